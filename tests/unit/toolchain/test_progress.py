"""Progress: plain lines in a log, one refreshed line on a terminal."""

from __future__ import annotations

import io
import time

import pytest

from toolchain.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0s"), (59.6, "1m00s"), (45, "45s"), (130, "2m10s")]
)
def test_duration_is_short(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_plain_lines_count_and_time_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    out = io.StringIO()
    shown = Progress(out)
    shown.expect(4)
    shown.start("etcd", "building")
    clock = 30
    shown.tick()
    clock = 70
    shown.tick()
    shown.tick()
    clock = 75
    shown.finish("built")
    shown.skip("kwok", "made by another run", steps=2)
    shown.start("kubectl", "building")
    assert out.getvalue().splitlines() == [
        "[1/4] etcd … building",
        "[1/4] etcd … building, 1m10s",
        "[1/4] etcd … built in 1m15s",
        "[2/4] kwok … made by another run",
        "[4/4] kubectl … building",
    ]


def test_terminal_line_is_refreshed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    out = Terminal()
    shown = Progress(out)
    shown.expect(1)
    shown.start("etcd", "building")
    clock = 2
    shown.tick()
    assert out.getvalue() == "\r\x1b[K[1/1] etcd … building\r\x1b[K[1/1] etcd … building, 2s"
    shown.finish("built")
    assert out.getvalue().endswith("\r\x1b[K[1/1] etcd … built in 2s\n")
