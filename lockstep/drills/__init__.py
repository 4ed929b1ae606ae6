"""Drills: what is done to a workload while it is recorded, so that its reaction can be judged.

One module per drill, each with `run(context)`. A drill acts and waits; it never judges.
"""

import contextlib
import importlib
import signal
from collections.abc import Callable, Iterator
from typing import Any, cast

from lockstep.drills.context import DrillContext, DrillTimeout
from lockstep.errors import LockstepError
from lockstep.judge.drill_marks import Topic
from lockstep.kube.client import FAILURES, explain

__all__ = ["DrillContext", "DrillTimeout", "drill", "perform"]


Drill = Callable[[DrillContext], None]


def drill(name: str) -> Drill:
    """The drill of this name: `rolling-update` is in rolling_update.py."""
    module = importlib.import_module(f"lockstep.drills.{name.replace('-', '_')}")
    return cast("Drill", module.run)


def perform(run: Drill, context: DrillContext) -> str:
    """Run a drill and mark its end in the recording; return what went wrong, or nothing.

    A drill that failed is no error here: how the workload did react is still to be judged.
    """
    try:
        with _clean_exit():
            run(context)
    except DrillTimeout as error:
        trouble = str(error)
    except (LockstepError, *FAILURES) as error:
        trouble = f"the drill failed: {explain(error)}"
    else:
        context.mark(Topic.OVER)
        return ""
    context.mark(Topic.FAILED, trouble)
    return trouble


@contextlib.contextmanager
def _clean_exit() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that a drill restores taints, rights and templates."""

    def end(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
