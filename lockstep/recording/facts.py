"""What a recording keeps of a Kubernetes object: the few fields that a judge or a reader needs.

Objects come as plain mappings. These functions run once per watch event, for thousands of pods,
so they look fields up and build no models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from lockstep.kube import quantity
from lockstep.recording.model import Kind

Object = Mapping[str, Any]
Facts = dict[str, Any]

_LWS = "leaderworkerset.sigs.k8s.io"
LWS_NAME = f"{_LWS}/name"
LWS_GROUP = f"{_LWS}/group-index"
LWS_WORKER = f"{_LWS}/worker-index"
LWS_SIZE = f"{_LWS}/size"
LWS_REVISION = f"{_LWS}/template-revision-hash"
# Both LWS and Volcano name a pod's PodGroup in this annotation; Volcano reads it.
POD_GROUP = "scheduling.k8s.io/group-name"


def of(kind: Kind, thing: Object) -> Facts:
    """Reduce one object of a kind."""
    return _REDUCERS[kind](thing)


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
        "requests": _requests(spec.get("containers") or ()),
        "unschedulable": (scheduled.get("message") or scheduled.get("reason")) if refused else None,
    }


def _membership(
    labels: Mapping[str, str], annotations: Mapping[str, str], owners: Iterable[Object]
) -> Facts:
    """Say which workload, gang and role a pod has; a pod of something else has none."""
    if name := labels.get(LWS_NAME):
        size = annotations.get(LWS_SIZE)
        return {
            "workload": f"LeaderWorkerSet/{name}",
            "group": f"{name}-{labels.get(LWS_GROUP, '0')}",
            "role": "leader" if labels.get(LWS_WORKER) == "0" else "worker",
            "size": int(size) if size else None,
            "revision": labels.get(LWS_REVISION),
        }
    owner = next((one for one in owners if one.get("controller")), None)
    return {"workload": _owner(owner, labels), "group": None, "role": None}


def _owner(owner: Object | None, labels: Mapping[str, str]) -> str | None:
    if owner is None:
        return None
    hashed = labels.get("pod-template-hash")
    if owner["kind"] == "ReplicaSet" and hashed and owner["name"].endswith(f"-{hashed}"):
        # A Deployment's ReplicaSet is named after it and the hash of its template.
        return f"Deployment/{owner['name'].removesuffix(f'-{hashed}')}"
    return f"{owner['kind']}/{owner['name']}"


def _requests(containers: Iterable[Object]) -> dict[str, str]:
    """Sum what the containers ask for, as quantities."""
    total: dict[str, Fraction] = {}
    for container in containers:
        for name, amount in ((container.get("resources") or {}).get("requests") or {}).items():
            total[name] = total.get(name, Fraction(0)) + quantity.parse(str(amount))
    return {name: _written(name, amount) for name, amount in sorted(total.items())}


def _written(name: str, amount: Fraction) -> str:
    return quantity.format_cpu(amount) if name == "cpu" else quantity.format_memory(amount)


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
    source = event.get("source") or {}
    return {
        "type": event.get("type"),
        "reason": event.get("reason") or "",
        "message": event.get("message") or "",
        "object": f"{about.get('kind')}/{about.get('name')}",
        "objectUid": about.get("uid"),
        "count": max(event.get("count") or 1, series.get("count") or 1),
        "source": event.get("reportingComponent") or source.get("component") or "",
    }


def _node(node: Object) -> Facts:
    spec, status = node.get("spec") or {}, node.get("status") or {}
    allocatable = status.get("allocatable") or {}
    ready: Object = next((c for c in status.get("conditions") or () if c["type"] == "Ready"), {})
    return {
        "taints": [
            {key: taint.get(key) for key in ("key", "value", "effect")}
            for taint in spec.get("taints") or ()
        ],
        "unschedulable": bool(spec.get("unschedulable")),
        "ready": ready.get("status") == "True",
        "cpu": str(allocatable.get("cpu", "0")),
        "memory": str(allocatable.get("memory", "0")),
    }


def _workload(thing: Object) -> Facts:
    """Reduce a LeaderWorkerSet or a Deployment: how many groups of how many pods it wants."""
    spec, status = thing.get("spec") or {}, thing.get("status") or {}
    template = spec.get("leaderWorkerTemplate")
    facts: Facts = {
        "kind": "LeaderWorkerSet" if template is not None else "Deployment",
        "replicas": spec.get("replicas", 1),
        "ready": status.get("readyReplicas", 0),
        "generation": thing["metadata"].get("generation"),
    }
    if template is not None:
        facts["size"] = template.get("size", 1)
        facts["startup"] = spec.get("startupPolicy", "LeaderCreated")
        facts["updating"] = _updates(status, facts["generation"])
    return facts


def _updates(status: Object, generation: int | None) -> bool:
    """Whether LWS replaces groups, or, where it tells (since 0.9.0), has not seen the change."""
    conditions = status.get("conditions") or ()
    replacing = any(c["type"] == "UpdateInProgress" and c["status"] == "True" for c in conditions)
    return replacing or status.get("observedGeneration", generation) != generation


_REDUCERS: dict[Kind, Callable[[Object], Facts]] = {
    "pod": _pod,
    "podgroup": _pod_group,
    "event": _event,
    "node": _node,
    "workload": _workload,
}
