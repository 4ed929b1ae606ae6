"""What is kept of each kind of object."""

from typing import Any

import pytest

from lockstep.recording import facts

LWS = "leaderworkerset.sigs.k8s.io"


def pod(**changes: Any) -> dict[str, Any]:
    metadata = {
        "name": "gang-0-1",
        "labels": {
            f"{LWS}/name": "gang",
            f"{LWS}/group-index": "0",
            f"{LWS}/worker-index": "1",
            f"{LWS}/template-revision-hash": "abc",
        },
        "annotations": {f"{LWS}/size": "4", "scheduling.k8s.io/group-name": "gang-0-abc"},
        "ownerReferences": [{"kind": "StatefulSet", "name": "gang-0", "controller": True}],
    }
    return {"metadata": metadata, **changes}


def test_pod_of_a_leader_worker_set() -> None:
    found = facts.of("pod", pod(spec={"schedulerName": "volcano"}, status={"phase": "Pending"}))
    assert found == {
        "workload": "LeaderWorkerSet/gang",
        "group": "gang-0",
        "role": "worker",
        "owner": "StatefulSet/gang-0",
        "size": 4,
        "revision": "abc",
        "node": None,
        "phase": "Pending",
        "ready": False,
        "deleting": False,
        "scheduler": "volcano",
        "priorityClass": None,
        "podGroup": "gang-0-abc",
        "unschedulable": None,
    }


def test_pod_is_bound_ready_and_terminating() -> None:
    thing = pod(
        spec={"nodeName": "w1"}, status={"conditions": [{"type": "Ready", "status": "True"}]}
    )
    thing["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = facts.of("pod", thing)
    assert (found["node"], found["ready"], found["deleting"]) == ("w1", True, True)


def test_refused_pod_tells_why() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    told = facts.of("pod", pod(status={"conditions": [{**condition, "message": "no room"}]}))
    silent = facts.of("pod", pod(status={"conditions": [condition]}))
    gated = {**condition, "reason": "SchedulingGated", "message": "gates"}
    waiting = facts.of("pod", pod(status={"conditions": [gated]}))
    assert told["unschedulable"] == "no room"
    assert silent["unschedulable"] == "Unschedulable"
    assert waiting["unschedulable"] is None


@pytest.mark.parametrize(
    ("condition", "evicted_by"),
    [
        ({"reason": "PreemptionByScheduler", "message": "volcano: preempting to …"}, "volcano"),
        ({"reason": "DeletionByTaintManager", "message": "Taint manager: deleting …"}, None),
    ],
)
def test_pod_that_a_scheduler_evicts_tells_which(
    condition: dict[str, str], evicted_by: str | None
) -> None:
    disrupted = {"type": "DisruptionTarget", "status": "True", **condition}
    assert facts.of("pod", pod(status={"conditions": [disrupted]})).get("preemptedBy") == evicted_by


def test_pod_of_a_deployment_and_pod_without_owner() -> None:
    owner = {"kind": "ReplicaSet", "name": "no-gang-7f9c", "controller": True}
    labels = {"pod-template-hash": "7f9c"}
    deployed = {"metadata": {"name": "x", "labels": labels, "ownerReferences": [owner]}}
    assert facts.of("pod", deployed)["workload"] == "Deployment/no-gang"
    assert facts.of("pod", {"metadata": {"name": "x", "ownerReferences": [owner]}})["workload"] == (
        "ReplicaSet/no-gang-7f9c"
    )
    assert facts.of("pod", {"metadata": {"name": "x"}})["workload"] is None


def test_pod_group() -> None:
    thing = {
        "metadata": {
            "name": "gang-0-abc",
            "labels": {f"{LWS}/name": "gang", f"{LWS}/group-index": "0"},
            "ownerReferences": [
                {"kind": "Pod", "name": "gang-0", "uid": "u", "controller": True},
            ],
        },
        "spec": {"minMember": 4, "minResources": {"cpu": 8}, "queue": "default"},
        "status": {"phase": "Inqueue", "conditions": [{"type": "Unschedulable", "other": 1}]},
    }
    found = facts.of("podgroup", thing)
    assert found["workload"] == "LeaderWorkerSet/gang"
    assert found["group"] == "gang-0"
    assert (found["owner"], found["ownerUid"]) == ("Pod/gang-0", "u")
    assert (found["minMember"], found["minResources"]) == (4, {"cpu": "8"})
    assert found["phase"] == "Inqueue"
    assert found["conditions"] == [
        {"type": "Unschedulable", "status": None, "reason": None, "message": None}
    ]


def test_event_counts_repeats_of_both_kinds() -> None:
    about = {"kind": "PodGroup", "name": "g", "uid": "u"}
    old = facts.of("event", {"metadata": {}, "involvedObject": about, "count": 7})
    new = facts.of("event", {"metadata": {}, "involvedObject": about, "series": {"count": 3}})
    one = facts.of("event", {"metadata": {}, "involvedObject": about})
    assert [old["count"], new["count"], one["count"]] == [7, 3, 1]
    assert (old["object"], old["objectUid"]) == ("PodGroup/g", "u")


def test_workloads() -> None:
    metadata = {"name": "gang", "generation": 2}
    spec = {"replicas": 3, "leaderWorkerTemplate": {"size": 4}, "startupPolicy": "LeaderReady"}
    assert facts.of("workload", {"metadata": metadata, "spec": spec}) == {
        "kind": "LeaderWorkerSet",
        "replicas": 3,
        "size": 4,
        "startup": "LeaderReady",
        "updating": False,
    }
    plain = {"metadata": metadata, "spec": {"replicas": 4}, "status": {"readyReplicas": 2}}
    assert facts.of("workload", plain) == {
        "kind": "Deployment",
        "replicas": 4,
    }


@pytest.mark.parametrize(
    ("status", "updating"),
    [
        ({}, False),
        ({"observedGeneration": 2}, False),
        ({"observedGeneration": 1}, True),
        ({"conditions": [{"type": "UpdateInProgress", "status": "True"}]}, True),
        ({"conditions": [{"type": "UpdateInProgress", "status": "False"}]}, False),
        ({"conditions": [{"type": "Available", "status": "True"}]}, False),
    ],
)
def test_leader_worker_set_that_is_being_updated(status: dict[str, Any], updating: bool) -> None:
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": 4}}
    thing = {"metadata": {"name": "gang", "generation": 2}, "spec": spec, "status": status}
    assert facts.of("workload", thing)["updating"] is updating
