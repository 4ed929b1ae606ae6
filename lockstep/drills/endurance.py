"""Do nothing to the workload: give it time, to show that no gang becomes complete."""

from __future__ import annotations

from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.judge.history import History, is_refused

SECONDS = 10.0


def run(context: DrillContext) -> None:
    """Wait until no further pod can be bound, then wait on to see whether that lasts."""
    context.until(
        "pods that are bound, and pods that are refused",
        lambda seen: context.has_failed() or _is_full(context, seen),
    )
    if context.has_failed():
        return
    context.mark(Topic.WAITING, f"{SECONDS:.0f} s for any gang to become complete")
    context.rest(SECONDS)


def _is_full(context: DrillContext, history: History) -> bool:
    gangs = history.expected_gangs(context.expectation)
    pods = [pod for gang in gangs for pod in gang.alive]
    waiting = [pod for pod in pods if not pod.bound]
    return (
        len(pods) == context.expectation.pods
        and 0 < len(waiting) < len(pods)
        and is_refused(waiting)
    )
