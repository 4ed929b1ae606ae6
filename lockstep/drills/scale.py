"""Scale to two groups, to six, to one: each time when the requested groups are complete."""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.scenarios.registry import SCALE_STEPS


def run(context: DrillContext) -> None:
    """Take every step; the set always ends with the number of groups that Pulumi gave it."""
    last = SCALE_STEPS[-1]
    actions.scale(context, last)  # an interrupted drill may have left more
    actions.await_collector(context)
    actions.until_complete(context, last)
    try:
        for groups in SCALE_STEPS:
            context.mark(Topic.SCALE, str(groups))
            actions.scale(context, groups)
            actions.until_complete(context, groups)
    finally:
        actions.scale(context, last)
