"""Telling what is being made, how far along it is, and how long it takes."""

from __future__ import annotations

import sys
import time
from typing import TextIO

HEARTBEAT = 60
"""Seconds between signs of life where a line cannot be refreshed."""


def duration(seconds: float) -> str:
    """`45s`, `2m10s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


class Progress:
    """Lines on a stream: refreshed on a terminal, plain elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._refreshing = self._stream.isatty()
        self._total = 0
        self._done = 0
        self._name = ""
        self._how = ""
        self._began = 0.0
        self._spoke = 0.0

    def expect(self, total: int) -> None:
        """Set how many steps there will be."""
        self._total = total

    def note(self, text: str) -> None:
        """Say something that is not a step."""
        self._line(f"lockstep: {text}")

    def start(self, name: str, how: str) -> None:
        """Begin a step."""
        self._name, self._how = name, how
        self._began = time.monotonic()
        self._show(f"{name} … {how}")

    def tick(self) -> None:
        """Show that the step goes on."""
        if time.monotonic() - self._spoke >= (1 if self._refreshing else HEARTBEAT):
            self._show(f"{self._name} … {self._how}, {self._elapsed()}")

    def finish(self, outcome: str, *, steps: int = 1) -> None:
        """End a step, or several that were one."""
        self._line(f"{self._count()} {self._name} … {outcome} in {self._elapsed()}")
        self._done += steps

    def skip(self, name: str, reason: str, *, steps: int) -> None:
        """Count steps that turned out not to be needed."""
        self._line(f"{self._count()} {name} … {reason}")
        self._done += steps

    def stop(self) -> None:
        """Leave the line that was being refreshed, so that an error starts on its own."""
        if self._refreshing and self._name:
            self._write("\n")

    def _count(self) -> str:
        return f"[{self._done + 1}/{self._total}]"

    def _elapsed(self) -> str:
        return duration(time.monotonic() - self._began)

    def _show(self, text: str) -> None:
        self._spoke = time.monotonic()
        self._write(
            f"\r\x1b[K{self._count()} {text}" if self._refreshing else f"{self._count()} {text}\n"
        )

    def _line(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}\n" if self._refreshing else f"{text}\n")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
