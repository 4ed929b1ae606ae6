"""The embedded cluster as resources."""

from typing import Any

from components.cluster.kwok import KwokCluster, KwokClusterArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def made(size: int = 3, **sizes: str) -> Graph:
    def build() -> dict[str, Any]:
        cluster = clusters.kwok(**sizes)
        pool = cluster.pool("gang", size)
        assert cluster.host is not None
        return {
            "kubeconfig": cluster.kubeconfig,
            "url": cluster.host.webhook_url,
            "ca": cluster.host.webhook_ca,
            "names": [worker.name for worker in pool.workers],
            "cpu": pool.pod_cpu,
        }

    return deploy(build)


def test_cluster_is_created_and_deleted_by_one_command() -> None:
    record = made()["cluster-control-plane"]
    assert (record.step("create"), record.step("delete")) == ("cluster create", "cluster delete")
    assert record.delete_first, "two clusters of one name cannot run at the same time"
    assert "stdout" in record.secret_outputs


def test_workers_have_size_label_and_a_simulated_kubelet() -> None:
    graph = made(2, cpu="8", memory="1Gi")
    nodes = graph.of_type("kubernetes:core/v1:Node")
    assert [node.inputs["metadata"]["name"] for node in nodes] == graph.value["names"]
    assert len(nodes) == 2
    for node in nodes:
        metadata = node.inputs["metadata"]
        assert metadata["labels"]["lockstep.dev/pool"] == "gang"
        assert metadata["annotations"] == {"kwok.x-k8s.io/node": "fake"}
        size = {"cpu": "8", "memory": "1Gi", "pods": "110"}
        assert node.inputs["status"] == {"allocatable": size, "capacity": size}
        assert node.delete_first, "a node of another size has the same name"
    assert graph.value["cpu"] == "4"


def test_another_incarnation_replaces_the_cluster_and_its_provider() -> None:
    def identities(incarnation: str) -> tuple[Any, Any]:
        args = KwokClusterArgs("lockstep-gang", "1.35.8", "4", "8Gi", incarnation)
        graph = deploy(lambda: KwokCluster("cluster", args).urn)
        triggers = graph["cluster-control-plane"].inputs["triggers"]
        return triggers, graph["cluster-provider"].inputs["clusterIdentifier"]

    assert identities("abc") == (["abc", "1.35.8"], "abc")
    assert identities("def") == (["def", "1.35.8"], "def")


def test_a_refresh_survives_a_lost_cluster() -> None:
    assert made()["cluster-provider"].inputs["deleteUnreachable"] in (True, "true")
