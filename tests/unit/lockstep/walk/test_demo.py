from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

import toolchain
from components.scenarios import SCENARIOS
from lockstep import cli, paths
from lockstep.commands import demo as command
from lockstep.errors import LockstepError
from lockstep.walk import demo
from lockstep.walk import terminal as live
from lockstep.walk.demo import ARTICLE, BEYOND, Step, Walk


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "state_dir", lambda: tmp_path)


def walk(**options: Any) -> Walk:
    made = Walk("gang", Console(file=io.StringIO()), **options)
    made.folder.mkdir()
    made._configure({"scenarios": []})  # as before the first step
    return made


def configured(walk: Walk) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(walk.stack.path.read_text())["config"]
    return config


def test_every_scenario_has_its_step() -> None:
    walked = [step.scenario for step in (*ARTICLE, *BEYOND)]
    assert set(walked) == set(SCENARIOS)
    assert len({step.name for step in (*ARTICLE, *BEYOND)}) == len(walked)


@pytest.mark.parametrize("step", BEYOND, ids=lambda step: step.name)
def test_step_beyond_the_article_takes_the_numbers_of_its_stack(step: Step) -> None:
    made = walk()
    made._configure(made._fitting(step))
    stack = yaml.safe_load((Path("stacks") / f"Pulumi.{step.name}.yaml").read_text())["config"]
    assert configured(made) == stack
    assert stack["lockstep:scenarios"] == [step.scenario]


def test_step_leaves_nothing_of_the_one_before() -> None:
    made = walk()
    made._configure(made._fitting(next(one for one in BEYOND if one.name == "contention")))
    made._configure(made._fitting(ARTICLE[0]))
    assert configured(made) == {"lockstep:scenarios": ["gang"]}


def test_walk_keeps_its_own_config_in_every_step() -> None:
    made = walk(name="matrix-0-7-0", config={"lwsVersion": "0.7.0"})
    assert made.stack.name == "matrix-0-7-0"
    assert made.stack.path.name == "Pulumi.matrix-0-7-0.yaml"
    for step in ARTICLE:
        made._configure(made._fitting(step))
        assert configured(made)["lockstep:lwsVersion"] == "0.7.0"


def test_walk_on_another_cluster_has_another_name() -> None:
    assert Walk("kind", Console(file=io.StringIO())).stack.name == "demo-kind"


def test_stack_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LockstepError, match="there is no stack nowhere"):
        demo.stack_config("nowhere")


@pytest.mark.parametrize(("words", "last"), [([], "no-gang"), (["--all"], BEYOND[-1].name)])
def test_demo_goes_as_far_as_asked(
    monkeypatch: pytest.MonkeyPatch, words: list[str], last: str
) -> None:
    taken: list[Step] = []

    def run(_: Walk, steps: Sequence[Step]) -> list[demo.Outcome]:
        taken.extend(steps)
        return []

    monkeypatch.setattr(Walk, "run", run)
    monkeypatch.setattr(Walk, "remove", lambda _: None)
    monkeypatch.setattr(toolchain, "ensure", lambda: None)
    monkeypatch.setattr(command, "_report", lambda _: None)
    assert cli.main(["demo", *words]) == 0
    assert taken[0].name == "gang"
    assert taken[-1].name == last


@pytest.mark.parametrize(
    ("step", "updates"),
    [
        (ARTICLE[0], [["gang"]]),
        (ARTICLE[2], [["gang", "constrained"]]),
        (BEYOND[0], [[], ["contention"]]),
    ],
    ids=lambda value: value.name if isinstance(value, Step) else "",
)
def test_scenario_beyond_the_article_meets_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: Step, updates: list[list[str]]
) -> None:
    made = walk(receipts=tmp_path)
    seen: list[list[str]] = []

    def update(_: Step | None) -> str:
        seen.append(configured(made)["lockstep:scenarios"])
        return ""

    monkeypatch.setattr(made, "_update", update)
    assert made._take(step).reason == "no verdict was reached"
    assert seen == updates


@pytest.mark.parametrize("words", [["demo"], ["matrix"]])
def test_second_walk_in_a_checkout_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    with demo.alone():
        assert cli.main(words) == cli.EXIT_ERROR
    assert "is running in this checkout already" in capsys.readouterr().err
    with demo.alone():
        pass  # the lock went with the walk that held it


def test_table_of_all_verdicts_fits_a_terminal() -> None:
    outcomes = [
        demo.Outcome(
            step,
            seconds=99.9,
            verdict={
                "observed": step.expected,
                "ok": True,
                "bound": 10,
                "size": 16,
                "bindSkewSeconds": 0.123,
            },
        )
        for step in (*ARTICLE, *BEYOND)
    ]
    screen = io.StringIO()
    live.show_table(Console(file=screen, width=80), outcomes)
    lines = screen.getvalue().splitlines()
    for step in (*ARTICLE, *BEYOND):
        row = f"{step.name} {step.expected} {step.expected} 10/16 0.123 s 99.9 s ok".split()
        assert row in [line.split() for line in lines]


def test_step_without_anybody_to_press_enter_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    removed: list[str] = []
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(toolchain, "ensure", lambda: None)
    monkeypatch.setattr(Walk, "_prepare", lambda _: None)
    monkeypatch.setattr(
        Walk, "_take", lambda _, step: demo.Outcome(step, 0.0, None, "not tried here")
    )
    monkeypatch.setattr(Walk, "remove", lambda made: removed.append(made.stack.name))
    assert cli.main(["demo", "--step"]) == cli.EXIT_ERROR
    assert "--step waits for Enter, but the input has ended" in capsys.readouterr().err
    assert removed == ["demo"]


def test_demo_without_a_verdict_fails_without_a_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*_: Any) -> list[demo.Outcome]:
        monkeypatch.setattr(paths, "project_dir", lambda: tmp_path)
        return [demo.Outcome(ARTICLE[0], 1.0, None, "the update failed")]

    monkeypatch.setattr(Walk, "run", run)
    monkeypatch.setattr(Walk, "remove", lambda _: None)
    monkeypatch.setattr(toolchain, "ensure", lambda: None)
    assert cli.main(["demo", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)[0]["reason"] == "the update failed"
    assert not (tmp_path / "out" / "report.html").exists()
