"""The registry is complete: each entry has everything that a scenario consists of."""

import importlib

import pytest
import yaml

from components.scenarios import SCENARIOS as COMPONENTS
from lockstep.judge.rules import RULES
from lockstep.scenarios.model import Scenario, Sizes
from lockstep.scenarios.registry import MEANINGS, SCENARIOS
from lockstep.scenarios.verdicts import VerdictName
from tests.unit.conftest import PROJECT_DIR

every_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))


@every_scenario
def test_scenario_has_all_of_its_parts(scenario: Scenario) -> None:
    stack = PROJECT_DIR / "stacks" / f"Pulumi.{scenario.name}.yaml"
    missing = [] if scenario.name in COMPONENTS else ["a component in components/scenarios/"]
    missing += [] if stack.exists() else [f"the stack file {stack.name}"]
    missing += [
        f"a rule for {step.expected} in lockstep/judge/rules/"
        for step in scenario.steps
        if step.expected not in RULES
    ]
    if scenario.drill:
        try:
            importlib.import_module(f"lockstep.drills.{scenario.drill.replace('-', '_')}")
        except ModuleNotFoundError:
            missing.append(f"the drill {scenario.drill} in lockstep/drills/")
    assert not missing, f"scenario {scenario.name} lacks {' and '.join(missing)}"


def test_component_stack_and_rule_belong_to_an_entry() -> None:
    assert list(COMPONENTS) == list(SCENARIOS)
    expected = {step.expected for scenario in SCENARIOS.values() for step in scenario.steps}
    assert set(RULES) <= expected


@every_scenario
def test_stack_deploys_the_scenario_of_its_name(scenario: Scenario) -> None:
    stack = (PROJECT_DIR / "stacks" / f"Pulumi.{scenario.name}.yaml").read_text()
    assert yaml.safe_load(stack)["config"]["lockstep:scenarios"] == [scenario.name]


def test_step_names_are_unique_and_every_verdict_has_a_meaning() -> None:
    steps = [step for scenario in SCENARIOS.values() for step in scenario.steps]
    assert len({step.name for step in steps}) == len(steps)
    assert all(MEANINGS[step.expected].endswith(".") for step in steps)


def test_controls_name_a_scenario() -> None:
    controls = {s.name: s.control_of for s in SCENARIOS.values() if s.control_of}
    assert set(controls.values()) <= set(SCENARIOS)


@pytest.mark.parametrize(
    ("scenario", "blocked", "verdict", "step"),
    [
        ("constrained", 3, VerdictName.HELD, "constrained"),
        ("constrained", 2, VerdictName.HELD, "constrained"),
        ("constrained", 1, VerdictName.RELEASED, "constrained-released"),
        ("constrained", 0, VerdictName.RELEASED, "constrained-released"),
        ("no-gang", 2, VerdictName.PARTIAL, "no-gang"),
        ("no-gang", 1, VerdictName.PLACED, "no-gang"),
    ],
)
def test_verdict_follows_from_the_blocked_workers(
    scenario: str, blocked: int, verdict: VerdictName, step: str
) -> None:
    sizes = Sizes(workers=3, blocked=blocked, size=4, groups=1)
    assert SCENARIOS[scenario].verdict(sizes) is verdict
    assert SCENARIOS[scenario].step(sizes).name == step
