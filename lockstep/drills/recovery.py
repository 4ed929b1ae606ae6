"""Kill the leader, then a worker, then lose a node; each time when the group is whole again."""

from __future__ import annotations

from lightkube.resources.core_v1 import Pod

from lockstep.drills import actions as sets
from lockstep.drills.actions import STEADY
from lockstep.drills.collector import await_collector
from lockstep.drills.context import Ground
from lockstep.judge.groups import Generation
from lockstep.judge.history import History
from lockstep.judge.rules.recreated import LEADER, NODE, WORKER
from lockstep.kube import taints


def run(ground: Ground) -> None:
    """Strike three times; the node is given back whatever happens."""
    nodes = ground.workers()
    taints.remove(ground.client, nodes)  # an interrupted drill may have left one
    await_collector(ground)
    group = _whole(ground, since=-1.0)
    for topic, victim in ((LEADER, group.leader.name), (WORKER, _worker(group))):
        since = ground.note(f"{topic}: {victim}")
        ground.client.delete(Pod, victim, namespace=ground.namespace)
        group = _whole(ground, since)
    node = str(group.leader.last.facts["node"])
    try:
        since = ground.note(f"{NODE}: {node}")
        taints.lose(ground.client, node, ground.expectation.scenario)
        _whole(ground, since)
    finally:
        taints.remove(ground.client, nodes)


def _worker(group: Generation) -> str:
    return min(pod.name for pod in group.workers)


def _whole(ground: Ground, since: float) -> Generation:
    """Wait until all groups are whole, and the first of them was made after a time."""
    what = "a group that is whole, with new pods and a PodGroup of its new leader"
    history = ground.steadily(what, STEADY, lambda seen: bool(_struck(ground, seen, since)))
    return _struck(ground, history, since)[0]


def _struck(ground: Ground, history: History, since: float) -> list[Generation]:
    """The first group, which is the one that is struck, if it is the one that is waited for."""
    expectation = ground.expectation
    key = history.gangs(expectation)[0].key
    groups = sets.whole(history, expectation, expectation.groups)
    return [group for group in groups if group.key == key and group.began > since]
