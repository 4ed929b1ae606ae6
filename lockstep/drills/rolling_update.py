"""Change the template under tight capacity, and back again with room for one extra group.

The change is an annotation that Pulumi does not know; taking it away again is the second update.
So the set ends as Pulumi made it.
"""

from __future__ import annotations

from lockstep.drills import actions as sets
from lockstep.drills.collector import await_collector
from lockstep.drills.context import Ground
from lockstep.judge.rules.rolled import SURGE, TIGHT
from lockstep.kube import taints
from lockstep.scenarios import pool as room

ANNOTATION = "lockstep.dev/drill"


def run(ground: Ground) -> None:
    """Update twice; taints, surge and template are as before whatever happens."""
    groups, pods = ground.expectation.groups, ground.expectation.pods
    _set(ground, changed=False, surge=0)  # an interrupted drill may have left something
    await_collector(ground)
    sets.until_whole(ground, groups)
    blocked = ground.blocked_workers()
    try:
        since = ground.note(f"{TIGHT}: {groups} groups of {pods} pods, and room for no more")
        _set(ground, changed=True, surge=0)
        sets.until_whole(ground, groups, since)
        freed = blocked[: room.workers_for(ground.expectation.size)]
        taints.remove(ground.client, freed)
        since = ground.note(f"{SURGE}: room for one group more on {', '.join(freed)}")
        _set(ground, changed=False, surge=1)
        sets.until_whole(ground, groups, since)
    finally:
        _set(ground, changed=False, surge=0)
        taints.block(ground.client, blocked, ground.expectation.scenario)


def _set(ground: Ground, *, changed: bool, surge: int) -> None:
    """Write the template's annotation, or take it away, and how many groups may be extra."""
    annotations = {ANNOTATION: "updated" if changed else None}
    sets.patch(
        ground,
        {
            "rolloutStrategy": {"rollingUpdateConfiguration": {"maxSurge": surge}},
            "leaderWorkerTemplate": {"workerTemplate": {"metadata": {"annotations": annotations}}},
        },
    )
