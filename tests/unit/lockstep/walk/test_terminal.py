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
