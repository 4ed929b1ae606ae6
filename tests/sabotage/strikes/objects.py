"""Sabotages of objects in the cluster: PodGroups, pods, and the set's template."""

import copy
import time

from tests.sabotage.api import Refused, Thing
from tests.sabotage.gangs import Pod
from tests.sabotage.strikes.field import Field, Missed

_QUEUE = "sabotage"


def pod_group_deleted(field: Field) -> None:
    """Delete a PodGroup."""
    field.api.delete("PodGroup", field.pod_group().name, field.namespace)


def min_member(field: Field) -> None:
    """Let a PodGroup demand one pod only."""
    _change(field, {"minMember": 1})


def min_resources(field: Field) -> None:
    """Let a PodGroup reserve much less than its pods need."""
    _change(field, {"minResources": {"cpu": "10m", "memory": "1Mi"}})


def queue(field: Field) -> None:
    """Move a PodGroup to another open queue, which has no limit."""
    made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    spec = {"weight": 1, "reclaimable": False}
    field.api.apply({**made, "metadata": {"name": _QUEUE}, "spec": spec})
    _change(field, {"queue": _QUEUE})


def owner(field: Field) -> None:
    """Give a PodGroup another owner: it stays when its leader goes."""
    account = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": field.namespace}}
    account["metadata"] = {"namespace": field.namespace, "name": "sabotage-owner"}
    uid = field.api.apply(account)["metadata"]["uid"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "sabotage-owner", "uid": uid}
    change = {"metadata": {"ownerReferences": [{**reference, "controller": True}]}}
    field.api.merge("PodGroup", field.pod_group().name, change, field.namespace)


def other_scheduler(field: Field) -> None:
    """Give the leaders a template of their own that asks for the default scheduler."""
    if not field.is_applied:
        field.changes.append(_with_other_leader)
        return
    name = str(field.update.expectation["workload"]["name"])
    found = field.api.get("LeaderWorkerSet", name, field.namespace)
    _with_other_leader(found)
    template = {"leaderTemplate": found["spec"]["leaderWorkerTemplate"]["leaderTemplate"]}
    change = {"spec": {"leaderWorkerTemplate": template}}
    field.api.merge("LeaderWorkerSet", name, change, field.namespace)


def foreign_pod(field: Field) -> None:
    """Create a pod that has the labels and the PodGroup of the gang, but not its owner."""

    def is_worker(pod: Pod) -> bool:
        return pod.label("worker-index") != "0"

    found = field.api.get("Pod", field.pod(is_worker).first.name, field.namespace)
    field.api.create(copy_of(found, "sabotage-foreign-1"))  # LWS reads the index in the name


def bound_by_hand(field: Field) -> None:
    """Bind a pod of the gang to a worker, as a scheduler would."""

    def is_free(pod: Pod) -> bool:
        return pod.bound is None

    pod = field.pod(is_free)
    try:
        bind(field, pod.first.name, field.node())
    except Refused as error:
        raise Missed("the pod was bound meanwhile") from error


def bind(field: Field, pod: str, node: str) -> None:
    """Bind a pod through the API."""
    binding = {"apiVersion": "v1", "kind": "Binding"}
    metadata = {"name": pod, "namespace": field.namespace}
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    field.api.create({**binding, "metadata": metadata, "target": target}, sub="binding")


def copy_of(pod: Thing, name: str) -> Thing:
    """Return a pod like another, without its owners and its node."""
    metadata, spec = pod["metadata"], copy.deepcopy(pod["spec"])
    for assigned in ("nodeName", "priority", "preemptionPolicy"):
        spec.pop(assigned, None)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": metadata.get("labels") or {},
            "annotations": metadata.get("annotations") or {},
        },
        "spec": spec,
    }


def _change(field: Field, spec: Thing) -> None:
    name = field.pod_group().name
    deadline = time.monotonic() + 2.0
    while True:
        try:
            field.api.merge("PodGroup", name, {"spec": spec}, field.namespace)
        except Refused as error:
            if error.status != 409 or time.monotonic() > deadline:
                raise Missed(f"refused: {error}") from error
        else:
            return


def _with_other_leader(thing: Thing) -> None:
    if thing["kind"] != "LeaderWorkerSet":
        return
    template = thing["spec"]["leaderWorkerTemplate"]
    leader = copy.deepcopy(template.get("leaderTemplate") or template["workerTemplate"])
    leader["spec"]["schedulerName"] = "default-scheduler"
    template["leaderTemplate"] = leader
