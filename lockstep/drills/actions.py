"""What drills do to a LeaderWorkerSet, and how they wait for its groups to be whole again."""

from __future__ import annotations

from typing import Any

from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType

from lockstep.drills.context import Ground
from lockstep.judge import Expectation
from lockstep.judge import groups as generations
from lockstep.judge.groups import Generation
from lockstep.judge.history import History

LeaderWorkerSet = create_namespaced_resource(
    "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"
)

STEADY = 2.0
"""Seconds that groups must stay whole: LWS 0.8 may make a leader twice (lws#804)."""


def patch(ground: Ground, spec: dict[str, Any]) -> None:
    """Change some fields of the set that Pulumi does not own."""
    ground.client.patch(
        LeaderWorkerSet,
        ground.expectation.workload.name,
        {"spec": spec},
        namespace=ground.namespace,
        patch_type=PatchType.MERGE,
    )


def scale(ground: Ground, groups: int) -> None:
    """Ask for a number of groups, as `kubectl scale` does."""
    ground.client.patch(
        LeaderWorkerSet.Scale,
        ground.expectation.workload.name,
        {"spec": {"replicas": groups}},
        namespace=ground.namespace,
        patch_type=PatchType.MERGE,
    )


def whole(history: History, expectation: Expectation, groups: int) -> list[Generation]:
    """The groups, if they are so many, all whole, and the PodGroups are exactly theirs."""
    gangs = [gang for gang in history.gangs(expectation) if gang.alive]
    found = generations.standing(gangs, history.end)
    if len(gangs) != groups or len(found) != groups:
        return []
    return [] if generations.strays(history, found, history.end) else found


def until_whole(ground: Ground, groups: int, since: float = -1.0) -> list[Generation]:
    """Wait for groups that are whole and stay so, all made after a time."""

    def reached(history: History) -> bool:
        found = whole(history, ground.expectation, groups)
        return bool(found) and all(group.began > since for group in found)

    what = f"{groups} whole groups, each with a PodGroup of its leader, and nothing else"
    history = ground.steadily(what, STEADY, reached)
    return whole(history, ground.expectation, groups)
