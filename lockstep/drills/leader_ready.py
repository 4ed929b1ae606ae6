"""Recreate the group with room for a part of it only, then give it room for all pods."""

from __future__ import annotations

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.judge.groups import incarnations
from lockstep.judge.history import History, is_refused
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
            lambda history: _is_partial(context, history, since),
            lasting=LASTING,
        )
        context.mark(Topic.ROOM_FOR_ALL, f"{size} pods")
    finally:
        taints.remove(context.client, workers)
    actions.until_complete(context, 1)


def _is_partial(context: DrillContext, history: History, since: float) -> bool:
    groups = incarnations(history.gangs(context.expectation)[0])
    if not groups or groups[-1].began <= since:
        return False
    pods = [pod for pod in groups[-1].pods if pod.alive]
    waiting = [pod for pod in pods if not pod.bound]
    is_split = len(pods) == groups[-1].size and 0 < len(waiting) < len(pods)
    return is_split and is_refused(waiting)
