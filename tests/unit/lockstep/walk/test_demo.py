import io
import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import toolchain
from lockstep import cli, paths
from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import demo
from lockstep.walk.demo import Walk
from lockstep.walk.events import EventLog
from lockstep.walk.outcome import Outcome, Stage, stages
from lockstep.walk.stack import Removal, Stack, Update, stack_config
from tests import samples

ARTICLE = stages(scenario for scenario in SCENARIOS.values() if scenario.in_article)
ALL = stages(SCENARIOS.values())


def named(name: str) -> Stage:
    return next(stage for stage in ALL if stage.step.name == name)


class FakeStack(Stack):
    """Writes the receipt of the verdict that is expected, unless told otherwise."""

    deployed: list[Mapping[str, Any]]
    """The config of each update."""
    verdicts: dict[str, str]
    """What is observed instead, by the step; "" is no verdict at all."""
    downs: int

    def up(self, on_progress: Callable[[EventLog], None] = lambda _: None) -> Update:
        config = {key: self.config(key) for key in ("scenarios", "taintedWorkers", "lwsVersion")}
        self.deployed.append(config)
        on_progress(EventLog())
        failed = [name for name in config["scenarios"] if self.verdicts.get(name) == ""]
        for name in config["scenarios"]:
            self._record(name, int(config["taintedWorkers"]))
            self._judge(name, int(config["taintedWorkers"]))
        reason = f"{failed[0]} has no room" if failed else ""
        if self.log:
            with self.log.open("a") as log:
                log.write(f"Pulumi says: {reason}\n")
        return Update(reason, EventLog(), 1.0)

    def _record(self, name: str, tainted: int) -> None:
        """Write a recording; the cluster has an operator's log, and credentials."""
        folder = paths.cluster_dir(self.cluster_name())
        for file in (f"recordings/{name}.jsonl", "programs/lws-manager.log", "kubeconfig"):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(f"{tainted} tainted")
        if self.verdicts.get(name) == "interrupt":
            raise KeyboardInterrupt

    def _judge(self, name: str, tainted: int) -> None:
        step = SCENARIOS[name].steps[-1 if tainted == 1 else 0]
        observed = self.verdicts.get(name, step.expected)
        verdict = {"expected": step.expected, "observed": observed, "ok": True, "reason": "so"}
        if observed:
            file = Path(self.environment["LOCKSTEP_RECEIPTS"]) / f"{step.name}.json"
            file.write_text(
                json.dumps({"scenario": name, "verdict": {**verdict, "bound": 4, "size": 4}})
            )

    def down(self, on_progress: Callable[[EventLog], None] = lambda _: None) -> Removal:
        del on_progress
        shutil.rmtree(paths.cluster_dir(self.cluster_name()), ignore_errors=True)
        self.__class__.downs += 1
        return Removal(None, 0)

    def ensure_tools(self) -> None:
        pass


@pytest.fixture(autouse=True)
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[FakeStack]:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "out_dir", lambda: tmp_path / "out")
    monkeypatch.setattr(toolchain, "environment", dict)
    monkeypatch.setattr(demo, "Stack", FakeStack)
    FakeStack.deployed, FakeStack.verdicts, FakeStack.downs = [], {}, 0
    return FakeStack


def walk(base: str = "gang", **options: Any) -> Walk:
    return Walk(base, Console(file=io.StringIO()), **options)


def deployed() -> list[list[str]]:
    return [config["scenarios"] for config in FakeStack.deployed]


def test_walk_on_simulated_workers_adds_scenarios_of_the_article() -> None:
    outcomes = walk().run(ARTICLE)
    assert [outcome.ok for outcome in outcomes] == [True] * 4
    assert deployed() == [["gang"], ["gang", "constrained"], ["gang", "constrained"], ["no-gang"]]


def test_walk_on_real_workers_removes_the_scenario_before_but_not_one_that_goes_on() -> None:
    walk("kind").run(ARTICLE)
    assert deployed() == [["gang"], [], ["constrained"], ["constrained"], [], ["no-gang"]]
    tainted = [int(config["taintedWorkers"]) for config in FakeStack.deployed]
    assert tainted[2:4] == [2, 1], "the gang is released in the update that is judged, not before"


def test_scenario_beyond_the_article_meets_no_other() -> None:
    walk().run([named("gang"), named("contention"), named("gang")])
    assert deployed() == [["gang"], [], ["contention"], ["gang"]]


@pytest.mark.parametrize("stage", ALL, ids=lambda stage: stage.step.name)
def test_step_takes_the_numbers_of_its_scenarios_stack(stage: Stage) -> None:
    made = walk()
    made.run([named("contention"), stage])
    for key, value in stack_config(stage.scenario.name).items():
        wanted = stage.step.config.get(key, value)
        assert made.stack.config(key) == wanted


def test_walk_keeps_its_own_config_in_every_step() -> None:
    made = walk(name="matrix-0-7-0", config={"lwsVersion": "0.7.0"})
    made.run(ARTICLE)
    assert made.stack.name == "matrix-0-7-0"
    assert {config["lwsVersion"] for config in FakeStack.deployed} == {"0.7.0"}


def test_failed_removal_of_the_scenario_before_is_the_reason_of_the_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def up(self: FakeStack, on_progress: object) -> Update:
        del self, on_progress
        return Update("workers are gone", EventLog(), 1.0)

    made = walk("kind")
    made.run([named("gang")])
    monkeypatch.setattr(FakeStack, "up", up)
    outcome = made._take(named("no-gang"), is_first=False)
    assert (outcome.ok, outcome.explanation) == (False, "workers are gone")


def test_update_that_fails_after_a_good_verdict_fails_the_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = FakeStack.up
    monkeypatch.setattr(
        FakeStack, "up", lambda self, on: replace(good(self, on), reason="the state is lost")
    )
    (outcome,) = walk().run([named("gang")])
    assert (outcome.ok, outcome.explanation) == (False, "the state is lost")


def test_scenario_that_failed_is_left_out_of_the_steps_of_others() -> None:
    FakeStack.verdicts = {"gang": ""}
    outcomes = walk().run(ARTICLE)
    assert [outcome.ok for outcome in outcomes] == [False, True, True, True]
    assert deployed() == [["gang"], ["constrained"], ["constrained"], ["no-gang"]]


def test_walk_never_takes_the_name_of_a_users_stack(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.demo.yaml").touch()
    monkeypatch.setattr(paths, "checkout_dir", lambda: tmp_path)
    with pytest.raises(LockstepError, match=r"the stack name demo is taken by .*Pulumi.demo.yaml"):
        walk()


def test_verdict_that_is_ok_but_not_the_expected_one_fails_the_step() -> None:
    FakeStack.verdicts = {"gang": "released"}
    (outcome,) = walk().run([named("gang")])
    assert not outcome.ok
    assert outcome.explanation == "expected placed, observed released"


@pytest.mark.parametrize(("words", "last"), [([], "no-gang"), (["--all"], ALL[-1].step.name)])
def test_demo_goes_as_far_as_asked_and_cleans_up(
    words: list[str], last: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lockstep.commands.demo._write_report", lambda *_: None)
    assert cli.main(["demo", "--json", *words]) == 0
    outcomes = json.loads(capsys.readouterr().out)
    assert (outcomes[0]["step"], outcomes[-1]["step"]) == ("gang", last)
    assert FakeStack.downs == 2, "before and after"


def test_demo_without_any_verdict_fails_with_the_reasons_last_and_keeps_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeStack.verdicts = dict.fromkeys(SCENARIOS, "")
    old = tmp_path / "out" / "report.html"
    old.parent.mkdir()
    old.touch()
    assert cli.main(["demo", "--json"]) == 1
    assert not old.exists(), "it answers for an earlier demo"
    out, err = capsys.readouterr()
    assert [outcome["verdict"] for outcome in json.loads(out)] == [None] * 4
    assert "\nlockstep: no-gang failed: no-gang has no room\n" in err
    log = tmp_path / "out" / "pulumi-demo.log"
    assert str(log) in err
    assert "Pulumi says: gang has no room" in log.read_text()


def test_report_of_the_demo_counts_a_step_whose_update_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt.write(tmp_path / "out" / "receipts" / "gang.json", samples.placed())
    failed = Outcome(named("gang").step, 1.0, None, "the state is <lost>")
    monkeypatch.setattr(Walk, "run", lambda *_: [failed])
    assert cli.main(["demo"]) == 1
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h1><em>Inconclusive:</em> a step failed, " in page
    assert "<strong>gang</strong>: the state is &lt;lost&gt;" in page


def test_failed_demo_keeps_recordings_and_logs_of_the_failed_steps_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lockstep.commands.demo._write_report", lambda *_: None)
    FakeStack.verdicts = {"constrained": "torn"}
    assert cli.main(["demo"]) == 1
    failed = tmp_path / "out" / "failed"
    names = {file.relative_to(failed).as_posix() for file in failed.rglob("*") if file.is_file()}
    assert names == {
        f"{step}/{name}"
        for step in ("constrained", "constrained-released")
        for name in ("constrained.jsonl", "lws-manager.log")
    }
    first = (failed / "constrained" / "constrained.jsonl").read_text()
    assert first == "2 tainted", "the next step records in the same file"
    assert capsys.readouterr().err.splitlines()[1:6] == [
        "lockstep: constrained failed: expected held, observed torn",
        "  receipt    out/receipts/constrained.json",
        "  recording  out/failed/constrained/constrained.jsonl",
        "  logs       out/pulumi-demo.log",
        "             out/failed/constrained",
    ]
    FakeStack.verdicts = {}
    assert cli.main(["demo"]) == 0
    assert not failed.exists(), "a demo that succeeds leaves none, and removes an old one"


def test_interrupted_demo_keeps_the_step_that_it_was_in_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    FakeStack.verdicts = {"constrained": "interrupt"}
    assert cli.main(["demo"]) == cli.EXIT_INTERRUPTED
    assert FakeStack.downs == 2
    assert (tmp_path / "out" / "failed" / "constrained" / "constrained.jsonl").exists()
    assert capsys.readouterr().err.splitlines() == [
        "lockstep: interrupted",
        "  logs       out/pulumi-demo.log",
        "             out/failed",
    ]


def test_walk_keeps_the_failed_receipts_of_an_earlier_walk(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "receipts"
    for one in (samples.broken(), samples.partial()):
        receipt.write(folder / f"{one.step}.json", one)
    walk().run([])
    assert [path.name for path in folder.rglob("*.json")] == [
        next((folder / "failed").iterdir()).name
    ]
    assert receipt.load(folder / "failed") == [samples.broken()]


@pytest.mark.parametrize("words", [["demo"], ["matrix"]])
def test_second_walk_in_a_checkout_is_refused(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    with demo.exclusive_lock():
        assert cli.main(words) == cli.EXIT_ERROR
    assert "is already running in this checkout" in capsys.readouterr().err
    with demo.exclusive_lock():
        pass  # the lock ended with the walk that held it


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_clean_up_is_not_interrupted(number: signal.Signals) -> None:
    before = signal.signal(number, signal.default_int_handler)
    try:
        with demo.ignore_signals():
            os.kill(os.getpid(), number)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    finally:
        signal.signal(number, before)


def test_step_without_a_terminal_is_an_error_of_one_line_and_cleans_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.main(["demo", "--step"]) == cli.EXIT_ERROR
    assert "--step waits for Enter, but the input has ended" in capsys.readouterr().err
    assert FakeStack.downs == 2
