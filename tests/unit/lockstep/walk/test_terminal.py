from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import terminal
from lockstep.walk.events import EventLog
from lockstep.walk.outcome import Outcome, VerdictSummary, stages
from tests.unit.lockstep.walk.fakes import step_event


def test_table_of_all_verdicts_fits_a_terminal() -> None:
    steps = [stage.step for stage in stages(SCENARIOS.values())]
    outcomes = [
        Outcome(step, 99.9, VerdictSummary(step.expected, step.expected, True, "", 10, 16, 0.123))
        for step in steps
    ]
    screen = io.StringIO()
    terminal.show_table(Console(file=screen, width=80), outcomes)
    lines = [line.split() for line in screen.getvalue().splitlines()]
    for step in steps:
        row = f"{step.name} {step.expected} {step.expected} 10/16 0.123 s 99.9 s ok"
        assert row.split() in lines


@pytest.mark.parametrize(
    ("ok", "skew", "line"),
    [
        (True, 0.0081, "gang: placed, 4 of 4 pods bound, bind skew 0.008 s, ok"),
        (False, None, "gang: placed, 4 of 4 pods bound, FAILED"),
    ],
)
def test_verdict_is_one_line(ok: bool, skew: float | None, line: str) -> None:
    screen = io.StringIO()
    verdict = VerdictSummary("placed", "placed", ok, "", 4, 4, skew)
    terminal.show_verdict(Console(file=screen), "gang", verdict)
    assert screen.getvalue() == f"{line}\n"


def test_view_without_a_terminal_prints_a_line_per_phase() -> None:
    screen = io.StringIO()
    with terminal.live_view(Console(file=screen)) as show:
        events = EventLog(show)
        for operation, name in (
            ("same", "volcano-release"),
            ("create", "lws-release"),
            ("create", "lws-anything"),
            ("create", "gang-verdict-judge"),
            ("delete", "lws-release"),
        ):
            events(step_event("resourcePreEvent", operation, name))
    phases = [line.strip(" …").split(" (")[0] for line in screen.getvalue().splitlines()]
    assert phases == [
        "comparing with the current state",
        "installing LWS",
        "judging",
        "removing resources",
    ]


def test_view_ends_with_an_interrupted_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    before = threading.active_count()

    def interrupted() -> None:
        with terminal.live_view(Console(file=io.StringIO()), ("cluster", "gang")):
            assert threading.active_count() > before
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert threading.active_count() == before
