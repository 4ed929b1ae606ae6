"""The embedded cluster as resources."""

from __future__ import annotations

from typing import Any

import pytest

from lockstep.local import control_plane
from tests.unit.components import clusters
from tests.unit.components.graph import CREDENTIALS, Graph, deploy


def made(size: int = 3, **sizes: str) -> Graph:
    def build() -> dict[str, Any]:
        cluster = clusters.kwok(**sizes)
        pool = cluster.pool("gang", size)
        return {
            "kubeconfig": cluster.kubeconfig,
            "path": cluster.kubeconfig_path,
            "url": cluster.webhook_url,
            "ca": cluster.webhook_ca,
            "names": [worker.name for worker in pool.workers],
            "cpu": pool.pod_cpu,
        }

    return deploy(build)


def test_cluster_is_made_and_removed_by_one_command() -> None:
    record = made()["cluster-control-plane"]
    assert record.inputs["create"].endswith("cluster create")
    assert record.inputs["delete"].endswith("cluster delete")
    assert record.environment["LOCKSTEP_CLUSTER"] == "lockstep-gang"
    assert record.delete_first, "two clusters of one name cannot live side by side"
    assert "stdout" in record.secret_outputs


def test_cluster_says_how_to_reach_it() -> None:
    value = made().value
    assert value["kubeconfig"] == CREDENTIALS
    assert value["path"] == "/state/kubeconfig"
    assert (value["url"], value["ca"]) == ("https://127.0.0.1:9443", "Q0E=")


def test_workers_have_size_label_and_a_simulated_kubelet() -> None:
    graph = made(2, cpu="8", memory="1Gi")
    nodes = graph.of_type("kubernetes:core/v1:Node")
    assert [node.inputs["metadata"]["name"] for node in nodes] == graph.value["names"]
    assert len(nodes) == 2
    for node in nodes:
        metadata = node.inputs["metadata"]
        assert metadata["labels"]["lockstep.dev/pool"] == "gang"
        assert metadata["annotations"] == {"kwok.x-k8s.io/node": "fake"}
        room = {"cpu": "8", "memory": "1Gi", "pods": "110"}
        assert node.inputs["status"] == {"allocatable": room, "capacity": room}
        assert node.deleted_with == "cluster-control-plane"
        assert node.delete_first, "a node of another size has the same name"
    assert graph.value["cpu"] == "4"


def test_a_living_cluster_keeps_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_plane, "incarnation", lambda _name: ("abc", False))
    graph = made()
    assert graph["cluster-control-plane"].inputs["triggers"] == ["abc", "1.34.4"]
    assert graph["cluster-provider"].inputs["clusterIdentifier"] == "abc"


def test_a_lost_cluster_is_announced_and_gets_a_new_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", said.append)
    monkeypatch.setattr(control_plane, "incarnation", lambda _name: ("new", True))
    graph = made()
    assert graph["cluster-control-plane"].inputs["triggers"][0] == "new"
    assert said == ["the embedded cluster lockstep-gang is gone; it is made anew"]


def test_a_refresh_survives_a_lost_cluster() -> None:
    assert made()["cluster-provider"].inputs["deleteUnreachable"] in (True, "true")
