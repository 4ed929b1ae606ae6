"""Change the template without spare capacity, and back again with room for one extra group.

The change is an annotation that Pulumi does not know; removing it again is the second update. So
the set ends as Pulumi created it.
"""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.judge.history import ObjectHistory
from lockstep.kube import taints
from lockstep.kube.client import LeaderWorkerSet
from lockstep.scenarios import pool

ANNOTATION = "lockstep.dev/drill"


def run(context: DrillContext) -> None:
    """Update twice; taints, surge and template are always restored."""
    groups, pods = context.expectation.groups, context.expectation.pods
    workers = _blocked_first(context)
    blocked = len(workers) - pool.workers_for(pods)
    # An interrupted drill may have left too few taints, a changed template or a surge.
    taints.apply(context.client, workers, blocked, context.expectation.scenario)
    _configure(context, changed=False, surge=0)
    actions.await_collector(context)
    actions.until_complete(context, groups)
    try:
        text = f"{groups} groups of {pods} pods, and room for no more"
        since = context.mark(Topic.UPDATE_WITHOUT_SURGE, text)
        _configure(context, changed=True, surge=0)
        actions.until_complete(context, groups, since)
        freed = workers[:blocked][: pool.workers_for(context.expectation.size)]
        taints.remove(context.client, freed)
        text = f"room for one group more on {', '.join(freed)}"
        since = context.mark(Topic.UPDATE_WITH_SURGE, text)
        _configure(context, changed=False, surge=1)
        actions.until_complete(context, groups, since)
    finally:
        try:
            _configure(context, changed=False, surge=0)
        finally:
            taints.apply(context.client, workers, blocked, context.expectation.scenario)


def _blocked_first(context: DrillContext) -> list[str]:
    """The pool's workers, first those that are blocked, then in the order of their numbers."""
    context.workers()  # waits until they are recorded
    nodes = context.case().history.existing("node")

    def order(node: ObjectHistory) -> tuple[bool, int, str]:
        keys = [taint["key"] for taint in node.last.facts["taints"]]
        return taints.BLOCKED["key"] not in keys, len(node.name), node.name

    return [node.name for node in sorted(nodes, key=order)]


def _configure(context: DrillContext, *, changed: bool, surge: int) -> None:
    """Set or remove the template's annotation, and set how many extra groups are allowed."""
    annotations = {ANNOTATION: "updated" if changed else None}
    actions.patch(
        context,
        LeaderWorkerSet,
        context.expectation.workload.name,
        {
            "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": surge}},
            "leaderWorkerTemplate": {"workerTemplate": {"metadata": {"annotations": annotations}}},
        },
    )
