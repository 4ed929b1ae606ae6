"""Drills: what is done to a workload while it is recorded, so that its reaction can be judged.

One module per drill, each with `run(ground)`. A drill acts and waits; it never judges.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from lockstep.drills.ground import Ground, InVain
from lockstep.errors import LockstepError
from lockstep.judge import notes

__all__ = ["Ground", "drill", "perform"]


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


def perform(drill: Drill, ground: Ground) -> LockstepError | None:
    """Run a drill and note in the recording how it ended; return what it waited for in vain."""
    try:
        drill.run(ground)
    except LockstepError as error:
        if not ground.live.ended:
            ground.note(f"{notes.GAVE_UP}: {error}")
        return error
    ground.note(notes.OVER)
    return None
