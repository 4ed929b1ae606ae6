import io
import threading
from pathlib import Path

import pytest
from rich.console import Console

from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import terminal
from lockstep.walk.outcome import Outcome, VerdictSummary, stages


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


def test_line_on_a_pipe_is_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    reason = " ".join(["long"] * 100)
    summary = VerdictSummary("placed", "torn", False, reason, 2, 4)
    console = terminal.make_console(stderr=False)
    terminal.show_outcome(console, Outcome(SCENARIOS["gang"].steps[0], 1.0, summary))
    assert capsys.readouterr().out == f"  → torn, NOT expected (1.0 s): {reason}\n"


def test_repeated_label_is_shown_once() -> None:
    rows = [("receipt", "a.json"), ("logs", "a.log"), ("logs", "b.log")]
    lines = ["  receipt    a.json", "  logs       a.log", "             b.log"]
    assert terminal.aligned(rows).splitlines() == lines


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
