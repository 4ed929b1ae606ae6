"""Recreate the group with room for a part of it only, then give it room for all pods."""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.groups import incarnations
from lockstep.judge.history import is_split
from lockstep.kube import taints
from lockstep.scenarios import pool

LASTING = 4.0
"""Seconds without change; the scheduler has a cycle every second."""


def run(context: DrillContext) -> None:
    """Block all workers but one while the group starts; they are always unblocked again."""
    workers = context.workers()
    taints.remove(context.client, workers)  # an interrupted drill may have left some
    actions.await_collector(context)
    leader = actions.until_complete(context, 1)[0].leader
    size = context.expectation.size
    try:
        taints.block(context.client, workers[1:], context.expectation.scenario)
        since = context.mark(Topic.ROOM_FOR_A_PART, f"{pool.PODS_PER_WORKER} of {size} pods")
        actions.delete_leader(context, leader.name)
        context.until(
            "a part of the group that is bound, and the rest refused",
            lambda case: _is_partial(case, since),
            lasting=LASTING,
        )
        context.mark(Topic.ROOM_FOR_ALL, f"{size} pods")
    finally:
        taints.remove(context.client, workers)
    actions.until_complete(context, 1)


def _is_partial(case: Case, since: float) -> bool:
    groups = [group for group in incarnations(case.gangs[0]) if group.began > since]
    return bool(groups) and is_split(groups[-1].pods, groups[-1].size)
