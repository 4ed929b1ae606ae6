from fractions import Fraction
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.kube import nodes
from lockstep.kube.nodes import Candidate, choose
from tests.unit.lockstep.memory_api import MemoryApi

GI = Fraction(2**30)


def candidate(
    name: str,
    pool: str | None = None,
    *,
    usable: bool = True,
    cpu: Fraction = Fraction(0),
    memory: Fraction = Fraction(0),
) -> Candidate:
    """A worker of 4 CPU and 8 GiB, of which other pods use `cpu` and `memory`."""
    size, used = {"cpu": Fraction(4), "memory": 8 * GI}, {"cpu": cpu, "memory": memory}
    return Candidate(name, pool, usable, size, used)


def names(chosen: list[Candidate]) -> list[str]:
    return [node.name for node in chosen]


def test_pool_takes_its_own_workers_first_then_free_ones_by_name() -> None:
    found = [candidate("c"), candidate("z", "gang"), candidate("a"), candidate("b", "other")]
    assert names(choose(found, "gang", 3)) == ["z", "a", "c"]


def test_pool_takes_no_worker_that_it_cannot_use() -> None:
    busy = candidate("busy", cpu=Fraction(3))
    full = candidate("full", memory=5 * GI)
    found = [candidate("down", usable=False), busy, full, candidate("a"), candidate("b")]
    assert names(choose(found, "gang", 2)) == ["a", "b"]


def test_pool_with_too_few_workers_says_why_in_one_line() -> None:
    found = [
        candidate("a"),
        candidate("b", "constrained"),
        candidate("c", cpu=Fraction(3)),
        candidate("d", usable=False),
    ]
    with pytest.raises(LockstepError) as caught:
        choose(found, "gang", 2)
    assert str(caught.value) == (
        "the pool gang needs 2 workers that are ready, untainted and idle; found 1, as other "
        "nodes belong to the pools constrained, as other pods fill c; add workers, lower "
        "workersPerScenario, or remove other scenarios"
    )


def test_worker_offers_what_others_leave_less_a_reserve() -> None:
    node = candidate("a", cpu=Fraction(1, 2), memory=GI)
    assert node.worker() == {"name": "a", "cpu": "3100m", "memory": "6657199308"}


def node(**changes: Any) -> dict[str, Any]:
    return {
        "metadata": {"labels": changes.get("labels", {})},
        "spec": {"taints": changes.get("taints"), "unschedulable": changes.get("off")},
        "status": {
            "allocatable": {"cpu": "1930m", "memory": "7901Mi"},
            "conditions": [{"type": "Ready", "status": changes.get("ready", "True")}],
        },
    }


def pod(name: str, phase: str = "Running", **labels: str) -> dict[str, Any]:
    containers = [{"name": c, "resources": {"requests": {"cpu": "100m"}}} for c in "xy"]
    return {
        "metadata": {"labels": labels},
        "spec": {"nodeName": name, "containers": [*containers, {"name": "z"}]},
        "status": {"phase": phase},
    }


@pytest.fixture
def api() -> MemoryApi:
    api = MemoryApi()
    api.put("/api/v1/nodes/plain", node(labels={"lockstep.dev/pool": "gang"}))
    api.put("/api/v1/nodes/master", node(taints=[{"key": "master", "effect": "NoSchedule"}]))
    api.put("/api/v1/nodes/soft", node(taints=[{"key": "x", "effect": "PreferNoSchedule"}]))
    ours = {"key": "lockstep.dev/blocked", "effect": "NoSchedule"}
    api.put("/api/v1/nodes/ours", node(taints=[ours]))
    api.put("/api/v1/nodes/off", node(off=True))
    api.put("/api/v1/nodes/down", node(ready="False"))
    api.put("/api/v1/namespaces/a/pods/p1", pod("plain"))
    api.put("/api/v1/namespaces/a/pods/p2", pod("plain", "Succeeded"))
    api.put("/api/v1/namespaces/a/pods/p3", pod("", "Pending"))
    api.put(
        "/api/v1/namespaces/b/pods/p4", pod("plain", **{"app.kubernetes.io/part-of": "lockstep"})
    )
    return api


def test_nodes_are_read_with_the_requests_of_other_pods(api: MemoryApi) -> None:
    found = {node.name: node for node in nodes.read(api.client(), "gang")}
    assert found["plain"].pool == "gang"
    assert found["plain"].allocatable["cpu"] == Fraction(193, 100)
    assert found["plain"].used["cpu"] == Fraction(1, 5)
    assert found["plain"].used["memory"] == 0
    assert found["soft"].used["cpu"] == 0


def test_pods_of_another_stack_count_as_used(api: MemoryApi) -> None:
    """Another stack's scenario may have a pool on the same cluster."""
    api.put("/api/v1/nodes/theirs", node(labels={"lockstep.dev/pool": "other-gang"}))
    labels = {"app.kubernetes.io/part-of": "lockstep"}
    api.put("/api/v1/namespaces/b/pods/p5", pod("theirs", **labels))
    found = {node.name: node for node in nodes.read(api.client(), "gang")}
    assert found["theirs"].used["cpu"] == Fraction(1, 5)
    with pytest.raises(LockstepError, match="other nodes belong to the pools other-gang"):
        choose(found.values(), "gang", 9)


def test_init_containers_sidecars_and_overhead_count(api: MemoryApi) -> None:
    """As a scheduler counts: the larger of the two phases, and the pod's overhead."""

    def container(name: str, cpu: str, **more: str) -> dict[str, Any]:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}, **more}

    spec = {
        "nodeName": "soft",
        "initContainers": [
            container("sidecar", "100m", restartPolicy="Always"),
            container("init", "700m"),
        ],
        "containers": [container("main", "200m")],
        "overhead": {"cpu": "50m"},
    }
    small = {**spec, "containers": [container("main", "900m")]}
    for name, described in (("starting", spec), ("running", small)):
        api.put(
            f"/api/v1/namespaces/a/pods/{name}", {"metadata": {}, "spec": described, "status": {}}
        )
    found = {node.name: node for node in nodes.read(api.client(), "gang")}
    # 100m + 700m while it starts; 100m + 900m while it runs; 50m each.
    assert found["soft"].used["cpu"] == Fraction(850 + 1050, 1000)


def test_nodes_are_usable_when_pods_may_go_there(api: MemoryApi) -> None:
    usable = {node.name for node in nodes.read(api.client(), "gang") if node.usable}
    assert usable == {"plain", "soft", "ours"}
