"""Make the group anew with room for a part of it only, then give it the room."""

from __future__ import annotations

from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from lockstep.drills import actions as sets
from lockstep.drills.collector import await_collector
from lockstep.drills.context import Ground
from lockstep.judge import groups as generations
from lockstep.judge.history import History
from lockstep.judge.rules.leader_first import ALL, PART
from lockstep.kube import taints
from lockstep.scenarios import pool as room

LASTING = 4.0
"""Seconds without change, with a scheduler that looks every second."""


def run(ground: Ground) -> None:
    """Block all workers but one while the group starts; they are freed whatever happens."""
    workers = ground.workers()
    taints.remove(ground.client, workers)  # an interrupted drill may have left some
    await_collector(ground)
    leader = sets.until_whole(ground, 1)[0].leader
    size = ground.expectation.size
    try:
        taints.block(ground.client, workers[1:], ground.expectation.scenario)
        since = ground.note(f"{PART}: {room.PODS_PER_WORKER} of {size} pods")
        # Foreground, as LWS does it: the old PodGroup must not be taken for the new one's.
        ground.client.delete(
            Pod, leader.name, namespace=ground.namespace, cascade=CascadeType.FOREGROUND
        )
        what = "a part of the group that is bound, and the rest refused"
        ground.steadily(what, LASTING, lambda history: _is_partial(ground, history, since))
        ground.note(f"{ALL}: {size} pods")
    finally:
        taints.remove(ground.client, workers)
    sets.until_whole(ground, 1)


def _is_partial(ground: Ground, history: History, since: float) -> bool:
    lives = generations.of(history.gangs(ground.expectation)[0])
    if not lives or lives[-1].began <= since:
        return False
    pods = [pod for pod in lives[-1].pods if pod.alive]
    waiting = [pod for pod in pods if not pod.bound]
    refused = all(pod.last.facts.get("unschedulable") for pod in waiting)
    return len(pods) == lives[-1].size and 0 < len(waiting) < len(pods) and refused
