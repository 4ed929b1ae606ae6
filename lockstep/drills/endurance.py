"""Do nothing to the workload: give it time, to show that no gang becomes complete."""

from lockstep.drills.context import DrillContext
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.history import is_split

SECONDS = 10.0


def run(context: DrillContext) -> None:
    """Wait until no further pod can be bound, then wait on to see whether that lasts."""
    context.until(
        "pods that are bound, and pods that are refused",
        lambda case: context.has_failed() or _is_full(case),
    )
    if context.has_failed():
        return
    context.mark(Topic.WAITING, f"{SECONDS:.0f} s for any gang to become complete")
    context.rest(SECONDS)


def _is_full(case: Case) -> bool:
    return is_split((pod for gang in case.wanted for pod in gang.pods), case.expectation.pods)
