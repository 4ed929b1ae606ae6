from typing import Any

from lockstep.local import simulated_kubelet


def stage(name: str) -> dict[str, Any]:
    (found,) = [one for one in simulated_kubelet.stages() if one["metadata"]["name"] == name]
    assert found["spec"]["resourceRef"] == {"apiGroup": "v1", "kind": "Pod"}
    return dict(found["spec"])


def test_a_deleted_pod_keeps_its_finalizers() -> None:
    assert stage("pod-goes")["next"] == {"delete": True}


def test_a_pod_is_deleted_only_once() -> None:
    """KWOK deletes by name: a second time might be the end of the pod's successor."""
    asked = stage("pod-goes")["selector"]["matchExpressions"]
    grace = {"key": ".metadata | select(.deletionGracePeriodSeconds != 0)", "operator": "Exists"}
    assert grace in asked


def test_a_pod_is_told_to_run_only_once() -> None:
    """The stage writes what its selector asks to be absent."""
    runs = stage("pod-runs")
    asked = [condition["key"] for condition in runs["selector"]["matchExpressions"]]
    assert ".status.podIP" in asked
    assert "\npodIP: {{" in runs["next"]["statusTemplate"]
    assert "phase: Running" in runs["next"]["statusTemplate"]
