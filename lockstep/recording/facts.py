"""The facts that a recording keeps of a Kubernetes object: the fields that a judge or reader needs.

Objects come as plain mappings. These functions run once per watch event, for thousands of pods,
so they look fields up and build no models.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lockstep.recording.model import Kind

Object = Mapping[str, Any]
Facts = dict[str, Any]

_LWS = "leaderworkerset.sigs.k8s.io"
LWS_NAME = f"{_LWS}/name"
LWS_GROUP = f"{_LWS}/group-index"
LWS_WORKER = f"{_LWS}/worker-index"
LWS_SIZE = f"{_LWS}/size"
LWS_REVISION = f"{_LWS}/template-revision-hash"
FINISHED = ("Succeeded", "Failed")
"""Phases of a pod that has ended."""
BLOCKING = ("NoSchedule", "NoExecute")
"""Effects of a taint that keep pods away from a node."""
# Both LWS and Volcano name a pod's PodGroup in this annotation; Volcano reads it.
POD_GROUP = "scheduling.k8s.io/group-name"


def of(kind: Kind, thing: Object) -> Facts:
    """Extract the facts of one object of a kind."""
    return _EXTRACTORS[kind](thing)


def _pod(pod: Object) -> Facts:
    metadata, spec, status = pod["metadata"], pod.get("spec") or {}, pod.get("status") or {}
    labels = metadata.get("labels") or {}
    annotations = metadata.get("annotations") or {}
    conditions = {one["type"]: one for one in status.get("conditions") or ()}
    scheduled = conditions.get("PodScheduled", {})
    refused = scheduled.get("status") == "False" and scheduled.get("reason") != "SchedulingGated"
    return {
        **_membership(labels, annotations, metadata.get("ownerReferences") or ()),
        "node": spec.get("nodeName") or None,
        "phase": status.get("phase"),
        "ready": conditions.get("Ready", {}).get("status") == "True",
        "deleting": "deletionTimestamp" in metadata,
        "scheduler": spec.get("schedulerName"),
        "priorityClass": spec.get("priorityClassName"),
        "podGroup": annotations.get(POD_GROUP),
        "unschedulable": (scheduled.get("message") or scheduled.get("reason")) if refused else None,
        **_preempted(conditions.get("DisruptionTarget", {})),
    }


def _preempted(disruption: Object) -> Facts:
    """The scheduler that evicted the pod, which begins the condition's message."""
    if disruption.get("reason") != "PreemptionByScheduler":
        return {}
    return {"preemptedBy": str(disruption.get("message")).partition(":")[0]}


def _membership(
    labels: Mapping[str, str], annotations: Mapping[str, str], owners: Iterable[Object]
) -> Facts:
    """The workload, group and role of a pod; a pod without LWS labels has no group and role."""
    if name := labels.get(LWS_NAME):
        size = annotations.get(LWS_SIZE)
        return {
            "workload": f"LeaderWorkerSet/{name}",
            "owner": _controller(owners),
            "group": f"{name}-{labels.get(LWS_GROUP, '0')}",
            "role": "leader" if labels.get(LWS_WORKER) == "0" else "worker",
            "size": int(size) if size else None,
            "revision": labels.get(LWS_REVISION),
        }
    owner = next((one for one in owners if one.get("controller")), None)
    return {"workload": _owner(owner, labels), "group": None, "role": None}


def _controller(owners: Iterable[Object]) -> str | None:
    """The object that controls a pod, such as StatefulSet/gang-0; None for a pod without one."""
    found = (f"{one['kind']}/{one['name']}" for one in owners if one.get("controller"))
    return next(found, None)


def _owner(owner: Object | None, labels: Mapping[str, str]) -> str | None:
    if owner is None:
        return None
    hashed = labels.get("pod-template-hash")
    if owner["kind"] == "ReplicaSet" and hashed and owner["name"].endswith(f"-{hashed}"):
        # A Deployment names its ReplicaSet after itself and the hash of its template.
        return f"Deployment/{owner['name'].removesuffix(f'-{hashed}')}"
    return f"{owner['kind']}/{owner['name']}"


def _pod_group(group: Object) -> Facts:
    metadata, spec, status = group["metadata"], group.get("spec") or {}, group.get("status") or {}
    labels = metadata.get("labels") or {}
    owners = metadata.get("ownerReferences") or ()
    owner: Object = next((one for one in owners if one.get("controller")), {})
    lws = labels.get(LWS_NAME)
    return {
        "workload": f"LeaderWorkerSet/{lws}" if lws else None,
        "group": f"{lws}-{labels.get(LWS_GROUP, '0')}" if lws else None,
        "revision": labels.get(LWS_REVISION),
        "owner": f"{owner['kind']}/{owner['name']}" if owner else None,
        "ownerUid": owner.get("uid"),
        "minMember": spec.get("minMember"),
        "minResources": {k: str(v) for k, v in (spec.get("minResources") or {}).items()},
        "queue": spec.get("queue"),
        "priorityClass": spec.get("priorityClassName"),
        "phase": status.get("phase"),
        "conditions": [
            {key: one.get(key) for key in ("type", "status", "reason", "message")}
            for one in status.get("conditions") or ()
        ],
    }


def _event(event: Object) -> Facts:
    about = event.get("involvedObject") or {}
    series = event.get("series") or {}
    return {
        "type": event.get("type"),
        "reason": event.get("reason") or "",
        "message": event.get("message") or "",
        "object": f"{about.get('kind')}/{about.get('name')}",
        "objectUid": about.get("uid"),
        "source": event.get("reportingComponent") or (event.get("source") or {}).get("component"),
        "count": max(event.get("count") or 1, series.get("count") or 1),
    }


def _node(node: Object) -> Facts:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    allocatable = status.get("allocatable") or {}
    return {
        "taints": [
            {key: taint.get(key) for key in ("key", "value", "effect")}
            for taint in spec.get("taints") or ()
        ],
        "unschedulable": bool(spec.get("unschedulable")),
        "cpu": str(allocatable.get("cpu", "0")),
        "memory": str(allocatable.get("memory", "0")),
    }


def _workload(thing: Object) -> Facts:
    """Facts of a LeaderWorkerSet or Deployment: its number of groups and their size."""
    spec, status = thing.get("spec") or {}, thing.get("status") or {}
    template = spec.get("leaderWorkerTemplate")
    facts: Facts = {
        "kind": "LeaderWorkerSet" if template is not None else "Deployment",
        "replicas": spec.get("replicas", 1),
    }
    if template is not None:
        facts["size"] = template.get("size", 1)
        facts["startup"] = spec.get("startupPolicy", "LeaderCreated")
        facts["updating"] = _is_updating(status, thing["metadata"].get("generation"))
    return facts


def _is_updating(status: Object, generation: int | None) -> bool:
    """Whether LWS replaces groups or has not seen the change yet, which it reports since 0.9.0."""
    conditions = status.get("conditions") or ()
    replacing = any(c["type"] == "UpdateInProgress" and c["status"] == "True" for c in conditions)
    return replacing or status.get("observedGeneration", generation) != generation


_EXTRACTORS: dict[Kind, Callable[[Object], Facts]] = {
    "pod": _pod,
    "podgroup": _pod_group,
    "event": _event,
    "node": _node,
    "workload": _workload,
}
