"""Drills: what is done to a workload while it is recorded, so that its reaction can be judged.

One module per drill, each with `run(ground)`. A drill acts and waits; it never judges.
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from lockstep.drills.ground import Ground
from lockstep.errors import LockstepError

__all__ = ["Ground", "drill"]


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
