"""What drills do to pods, PodGroups and LeaderWorkerSets, and how they wait for the effect."""

import uuid
from http import HTTPStatus
from typing import Any

from lightkube import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta, OwnerReference
from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType, PatchType

from lockstep.drills.context import DrillContext
from lockstep.judge import Workload
from lockstep.judge.case import Case
from lockstep.judge.groups import Incarnation, complete_at, wrong_pod_groups
from lockstep.kube.client import PodGroup, status_of

SetScale = create_namespaced_resource(
    "leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"
).Scale
"""The scale subresource of a LeaderWorkerSet."""

STEADY = 2.0
"""Seconds that groups must stay complete: LWS 0.8 may create a leader twice (lws#804)."""


def scale(context: DrillContext, groups: int, workload: Workload | None = None) -> None:
    """Request a number of groups, as `kubectl scale` does."""
    name = (workload or context.expectation.workload).name
    patch(context, SetScale, name, {"replicas": groups})


def delete_leader(context: DrillContext, name: str) -> None:
    """Delete a leader in the foreground, as LWS does.

    So its PodGroup is deleted first, and the next leader does not find it (lws#1054).
    """
    context.client.delete(Pod, name, namespace=context.namespace, cascade=CascadeType.FOREGROUND)


def patch(context: DrillContext, kind: Any, name: str, spec: dict[str, Any]) -> None:
    """Change some fields that neither Pulumi nor LWS changes afterwards."""
    context.client.patch(
        kind, name, {"spec": spec}, namespace=context.namespace, patch_type=PatchType.MERGE
    )


def delete_pod_group(context: DrillContext, name: str) -> None:
    """Delete a PodGroup, unless it is garbage-collected already."""
    try:
        context.client.delete(PodGroup, name, namespace=context.namespace)
    except ApiError as error:
        if status_of(error) != HTTPStatus.NOT_FOUND:
            raise


def await_collector(context: DrillContext) -> None:
    """Wait until the garbage collector deletes a PodGroup whose owner does not exist.

    The collector looks for new kinds twice a minute. Until then it does not delete a PodGroup with
    its leader: a group that is recreated in a new cluster would use the PodGroup of the old leader
    and lose it later (lws#1054).
    """
    name = f"lockstep-orphan-{uuid.uuid4().hex[:8]}"
    owner = OwnerReference(apiVersion="v1", kind="ConfigMap", name=name, uid=str(uuid.uuid4()))
    context.client.create(
        PodGroup(
            metadata=ObjectMeta(name=name, namespace=context.namespace, ownerReferences=[owner]),
            spec={"minMember": 1},
        )
    )

    def is_collected(case: Case) -> bool:
        return any(one.name == name and one.deleted for one in case.history.all("podgroup"))

    context.until("the garbage collector to delete a PodGroup without an owner", is_collected)


def complete_groups(case: Case, groups: int) -> list[Incarnation]:
    """The groups, if that many exist, all complete, and the PodGroups are exactly theirs."""
    gangs = [gang for gang in case.gangs if gang.alive]
    found = complete_at(gangs, case.end)
    if len(gangs) != groups or len(found) != groups:
        return []
    return [] if wrong_pod_groups(case.history, found, case.end) else found


def until_complete(context: DrillContext, groups: int, since: float = -1.0) -> list[Incarnation]:
    """Wait for groups that are complete and stay so, all created after a time."""

    def reached(case: Case) -> bool:
        found = complete_groups(case, groups)
        return bool(found) and all(group.began > since for group in found)

    what = f"{groups} complete groups, each with a PodGroup of its leader, and nothing else"
    return complete_groups(context.until(what, reached, lasting=STEADY), groups)
