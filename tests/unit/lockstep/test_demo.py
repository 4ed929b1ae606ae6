"""The walk: config by step, verdicts from receipts, and what is shown of it."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.console import Console

from lockstep import demo, live, paths, receipt
from lockstep.demo import Outcome, Step
from lockstep.recording import Observation

PLACED = {"observed": "placed", "ok": True, "bound": 4, "size": 4, "bindSkewSeconds": 0.0241}


def observation(at: float, name: str = "gang-lws-0", **facts: Any) -> Observation:
    return Observation(at, "pod", "MODIFIED", "ns", name, f"uid-{name}", str(at), facts)


def console() -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, width=200), text


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> demo.Walk:
    """A walk in a project of its own, whose stack is never really deployed."""
    (tmp_path / "stacks").mkdir()
    for base, provider in (("gang", "kwok"), ("kind", "kind")):
        file = tmp_path / "stacks" / f"Pulumi.{base}.yaml"
        file.write_text(yaml.safe_dump({"config": {"lockstep:clusterProvider": provider}}))
    monkeypatch.setattr(paths, "project_dir", lambda: tmp_path)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setattr("lockstep.stack.Stack.exists", lambda _self: False)
    monkeypatch.setattr("lockstep.stack.Stack.select", lambda _self: None)
    monkeypatch.setattr("lockstep.toolchain.environment", dict)
    return demo.Walk("gang", console()[0])


class Updates:
    """Stands for `pulumi up`: notes the config, and leaves the receipt of a step."""

    def __init__(self, walk: demo.Walk, verdicts: dict[str, dict[str, Any]]) -> None:
        self.walk = walk
        self.verdicts = verdicts
        self.configs: list[dict[str, Any]] = []

    def __call__(self, step: Step | None) -> str:
        self.configs.append(yaml.safe_load(self.walk.stack.path.read_text())["config"])
        if step is None:
            return ""
        if step.name not in self.verdicts:
            return "no room on this machine"
        file = self.walk.receipts / f"{step.name}.json"
        file.write_text(json.dumps({"verdict": self.verdicts[step.name]}))
        return ""


@pytest.fixture
def _any_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipt, "read", lambda path: json.loads(path.read_text()))


@pytest.mark.usefixtures("_any_receipt")
def test_each_step_is_a_config_change_and_its_verdict_comes_from_the_receipt(
    walk: demo.Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates = Updates(walk, {step.name: PLACED for step in demo.ARTICLE})
    monkeypatch.setattr(walk, "_update", updates)
    outcomes = walk.run(demo.ARTICLE)
    assert [outcome.ok for outcome in outcomes] == [True] * 4
    assert [config["lockstep:scenarios"] for config in updates.configs] == [
        ["gang"],
        ["gang", "constrained"],
        ["gang", "constrained"],
        ["no-gang"],
    ]
    assert [config.get("lockstep:taintedWorkers") for config in updates.configs] == [None, 2, 1, 2]


@pytest.mark.usefixtures("_any_receipt")
def test_a_failed_step_does_not_end_the_walk(
    walk: demo.Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    updates = Updates(walk, {"no-gang": {**PLACED, "ok": False, "reason": "why"}})
    monkeypatch.setattr(walk, "_update", updates)
    outcomes = walk.run(demo.ARTICLE)
    assert [outcome.ok for outcome in outcomes] == [False] * 4
    assert outcomes[0].reason == "no room on this machine"
    assert outcomes[3].verdict is not None


@pytest.mark.usefixtures("_any_receipt")
def test_real_workers_are_given_back_before_the_next_scenario(
    walk: demo.Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = demo.Walk("kind", walk.console)
    updates = Updates(real, {step.name: PLACED for step in demo.ARTICLE})
    monkeypatch.setattr(real, "_update", updates)
    real.run(demo.ARTICLE)
    assert [config["lockstep:scenarios"] for config in updates.configs] == [
        [],
        ["gang"],
        [],
        ["constrained"],
        ["constrained"],
        ["constrained"],
        [],
        ["no-gang"],
    ]


@pytest.mark.usefixtures("_any_receipt")
def test_old_receipts_are_not_shown_again(walk: demo.Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    walk.receipts.mkdir(parents=True)
    (walk.receipts / "old.json").write_text("{}")
    monkeypatch.setattr(walk, "_update", Updates(walk, {}))
    walk.run(demo.ARTICLE[:1])
    assert list(walk.receipts.glob("*.json")) == []


@pytest.mark.usefixtures("_any_receipt")
def test_steps_wait_when_asked_to(walk: demo.Walk, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    walk.pause = lambda step: waited.append(step.name)
    monkeypatch.setattr(walk, "_update", Updates(walk, {}))
    walk.run(demo.ARTICLE)
    assert waited == ["constrained", "constrained-released", "no-gang"]


def test_an_interrupted_update_is_ended() -> None:
    process = subprocess.Popen(["sleep", "60"], text=True, start_new_session=True)
    with pytest.raises(KeyboardInterrupt), demo._ended(process):
        raise KeyboardInterrupt
    assert process.returncode is not None


def test_live_view_tells_each_change_of_a_pod_once() -> None:
    view = live.PodView()
    lines = list(
        view.lines(
            [
                observation(0.1, phase="Pending"),
                observation(0.2, phase="Pending"),
                observation(0.3, phase="Pending", node="worker-1"),
                observation(0.4, phase="Running", node="worker-1"),
            ]
        )
    )
    assert [line.split("gang-lws-0")[1].strip() for line in lines] == [
        "waiting",
        "bound to worker-1",
        "[green]running[/green] on worker-1",
    ]


def test_live_view_tells_why_a_gang_waits_but_not_that_it_no_longer_does() -> None:
    def event(message: str) -> Observation:
        facts = {"reason": "Unschedulable", "message": message}
        return Observation(1.0, "event", "ADDED", "ns", "e", message, "1", facts)

    view = live.PodView()
    waits = "4/4 tasks in gang unschedulable: pod group is not ready; Pending: 4"
    lines = list(view.lines([event(waits), event(waits), event("pod group is ready")]))
    assert len(lines) == 1
    assert lines[0].endswith("4/4 tasks in gang unschedulable: pod group is not ready")


def test_live_view_of_many_pods_is_not_a_flood() -> None:
    view = live.PodView()
    crowd = [observation(1.0, f"pod-{n}", phase="Pending") for n in range(100)]
    assert len(list(view.lines(crowd))) == live.MANY


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        (" +  kubernetes:helm.sh/v3:Release lws-release creating (1s) ", "installing LWS"),
        (" ~  command:local:Command gang-verdict-judge updating (0s) ", "judging"),
        (" +  kubernetes:helm.sh/v3:Release lws-release created (1s) ", ""),
        ("Outputs:", ""),
    ],
)
def test_progress_of_pulumi_becomes_words(line: str, phase: str) -> None:
    assert live._phase(line) == phase


def test_reason_of_a_failed_update_is_the_cause_and_not_its_consequence() -> None:
    lines = [
        " pulumi:pulumi:Stack demo failed error: update failed\n",
        "    error: gang: expected placed, observed partial\n",
    ]
    assert live.reason(lines) == "gang: expected placed, observed partial"
    assert live.reason(["nothing\n"]) == "the update failed"


def test_table_has_a_row_per_step() -> None:
    step = demo.ARTICLE[0]
    shown, text = console()
    live.show_table(shown, [Outcome(step, 12.34, PLACED), Outcome(step, 1.0, None, "why")])
    rows = [line for line in text.getvalue().splitlines() if "gang" in line]
    assert [cell.strip() for cell in rows[0].split("│")[1:-1]] == [
        "gang",
        "placed",
        "placed",
        "4/4",
        "0.024 s",
        "12.3 s",
        "ok",
    ]
    assert "FAILED" in rows[1]


def test_outcome_that_was_not_expected_says_why() -> None:
    shown, text = console()
    live.show_outcome(shown, Outcome(demo.ARTICLE[0], 1.0, None, "no room"))
    assert "nothing, NOT expected (1.0 s): no room" in text.getvalue()
