"""Change the template without spare capacity, and back again with room for one extra group.

The change is an annotation that Pulumi does not know; removing it again is the second update. So
the set ends as Pulumi created it.
"""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.kube import taints
from lockstep.kube.client import LeaderWorkerSet
from lockstep.scenarios import pool

ANNOTATION = "lockstep.dev/drill"


def run(context: DrillContext) -> None:
    """Update twice; taints, surge and template are always restored."""
    groups, pods = context.expectation.groups, context.expectation.pods
    _configure(context, changed=False, surge=0)  # an interrupted drill may have left something
    actions.await_collector(context)
    actions.until_complete(context, groups)
    blocked = sorted(
        node.name
        for node in context.case().history.existing("node")
        if any(taint["key"] == taints.BLOCKED["key"] for taint in node.last.facts["taints"])
    )
    try:
        text = f"{groups} groups of {pods} pods, and room for no more"
        since = context.mark(Topic.UPDATE_WITHOUT_SURGE, text)
        _configure(context, changed=True, surge=0)
        actions.until_complete(context, groups, since)
        freed = blocked[: pool.workers_for(context.expectation.size)]
        taints.remove(context.client, freed)
        text = f"room for one group more on {', '.join(freed)}"
        since = context.mark(Topic.UPDATE_WITH_SURGE, text)
        _configure(context, changed=False, surge=1)
        actions.until_complete(context, groups, since)
    finally:
        _configure(context, changed=False, surge=0)
        taints.block(context.client, blocked, context.expectation.scenario)


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
