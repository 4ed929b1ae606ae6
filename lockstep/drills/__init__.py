"""Drills: what is done to a workload while it is recorded, so that its reaction can be judged.

One module per drill, each with `run(ground)`. A drill acts and waits; it never judges.
"""

from __future__ import annotations

import contextlib
import importlib
import signal
from collections.abc import Iterator
from typing import Any, Protocol, cast

from lockstep.drills.context import Ground, InVain
from lockstep.errors import LockstepError
from lockstep.judge import notes
from lockstep.kube import client as kube

__all__ = ["Ground", "InVain", "drill", "perform"]


class Drill(Protocol):
    """What a module of this package offers."""

    def run(self, ground: Ground) -> None: ...


def drill(name: str) -> Drill:
    """The drill of this name: `rolling-update` is in rolling_update.py."""
    try:
        module = importlib.import_module(f"lockstep.drills.{name.replace('-', '_')}")
    except ModuleNotFoundError as error:
        raise LockstepError(f"there is no drill {name!r}") from error
    return cast("Drill", module)


def perform(drill: Drill, ground: Ground) -> str:
    """Run a drill and note in the recording how it ended; return what went wrong."""
    try:
        with _ended_softly():
            drill.run(ground)
    except InVain as error:
        trouble = str(error)
    except kube.FAILURES as error:
        trouble = f"the drill failed: {kube.explain(error)}"
    else:
        ground.note(notes.OVER)
        return ""
    if not ground.live.ended:
        ground.note(f"{notes.GAVE_UP}: {trouble}")
    return trouble


@contextlib.contextmanager
def _ended_softly() -> Iterator[None]:
    """Let a drill that is told to end put back what it changed: taints, rights, a template."""

    def end(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
