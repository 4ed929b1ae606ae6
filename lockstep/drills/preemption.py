"""A gang fills the pool, then one of higher priority arrives.

Volcano compares the priority classes of PodGroups. LWS makes a PodGroup without one and does not
touch it afterwards, so the class of the pods is written into it here, as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightkube.types import PatchType

from lockstep.drills import pod_groups
from lockstep.drills.actions import LeaderWorkerSet
from lockstep.drills.context import Ground
from lockstep.errors import LockstepError
from lockstep.judge import podgroups, rivals
from lockstep.judge.history import Gang, History


def run(ground: Ground) -> None:
    """Start from a pool that the first set fills, also where an earlier drill let the rival in."""
    _scale_rival(ground, 0)
    ground.until(
        "no pod of the rival", lambda seen: not any(g.alive for g in _rivals(ground, seen))
    )
    ground.until("a pool full of low priority", lambda seen: _all_whole(_own(ground, seen)))
    ground.rest(1.0)
    ground.note("arrives: a gang of higher priority")
    _scale_rival(ground, ground.expectation.groups)
    known = ground.until("the rival's PodGroup", lambda seen: _all_grouped(ground, seen))
    for gang in _rivals(ground, known):
        _prioritize(ground, known, gang)


def _rivals(ground: Ground, history: History) -> Sequence[Gang]:
    return rivals.of(history, ground.expectation)


def _own(ground: Ground, history: History) -> Sequence[Gang]:
    return history.gangs(ground.expectation)[: ground.expectation.groups]


def _all_whole(gangs: Sequence[Gang]) -> bool:
    return all(gang.complete for gang in gangs)


def _all_grouped(ground: Ground, history: History) -> bool:
    return all(gang.alive and podgroups.of(history, gang) for gang in _rivals(ground, history))


def _scale_rival(ground: Ground, groups: int) -> None:
    rival = ground.expectation.rival
    if rival is None:
        raise LockstepError("this drill needs a rival in the expectation")
    ground.client.patch(
        LeaderWorkerSet.Scale,
        rival.name,
        {"spec": {"replicas": groups}},
        namespace=ground.namespace,
        patch_type=PatchType.MERGE,
    )


def _prioritize(ground: Ground, history: History, gang: Gang) -> None:
    """Give a PodGroup the priority class that its pods have."""
    group = podgroups.of(history, gang)
    classes = sorted({str(pod.last.facts["priorityClass"]) for pod in gang.alive})
    if group is None or len(classes) != 1:
        raise LockstepError(f"the pods of {gang.key} are not of one priority class: {classes}")
    pod_groups.patch(ground, group.name, {"priorityClassName": classes[0]})
    ground.note(f"priority: PodGroup {group.name} gets {classes[0]}, which LWS left out")
