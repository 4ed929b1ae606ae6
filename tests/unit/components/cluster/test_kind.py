from __future__ import annotations

import functools
import json
from typing import Any

import pulumi
import yaml

from lockstep import versions
from tests.unit.components import clusters
from tests.unit.components.graph import CREDENTIALS, Graph, deploy


@functools.cache
def kind_cluster(*pools: tuple[str, int]) -> Graph:
    def build() -> dict[str, Any]:
        cluster = clusters.kind()
        made = {name: cluster.pool(name, size) for name, size in pools}
        assert cluster.kubeconfig is not None
        return {
            "kubeconfig": cluster.kubeconfig,
            "kubeconfig is secret": cluster.kubeconfig.is_secret(),
            "on host": cluster.host is not None,
            "workers": {
                name: [pulumi.Output.all(w.name, w.cpu, w.memory) for w in pool.workers]
                for name, pool in made.items()
            },
        }

    return deploy(build)


def test_kind_cluster_is_created_and_deleted_by_one_command() -> None:
    containers = kind_cluster()["cluster-containers"]
    assert (containers.step("create"), containers.step("delete")) == ("kind create", "kind delete")


def test_kind_config_has_the_workers_and_the_pinned_image() -> None:
    containers = kind_cluster()["cluster-containers"]
    config = yaml.safe_load(containers.environment["LOCKSTEP_KIND_CONFIG"])
    assert [node["role"] for node in config["nodes"]] == ["control-plane"] + ["worker"] * 3
    assert {node["image"] for node in config["nodes"]} == {versions.KIND_NODE_IMAGE}
    assert "@sha256:" in versions.KIND_NODE_IMAGE


def test_kind_cluster_is_replaced_when_its_config_changes_and_never_doubled() -> None:
    containers = kind_cluster()["cluster-containers"]
    assert containers.inputs["triggers"] == [containers.environment["LOCKSTEP_KIND_CONFIG"]]
    assert containers.delete_first


def test_kind_kubeconfig_is_secret() -> None:
    graph = kind_cluster()
    assert graph.value["kubeconfig"] == CREDENTIALS
    assert graph.value["kubeconfig is secret"] is True
    assert graph["cluster-containers"].secret_outputs == {"stdout"}
    assert "kubeconfig" in graph["cluster-provider"].secret_inputs


def test_kind_provider_survives_a_refresh_without_its_cluster() -> None:
    provider = kind_cluster()["cluster-provider"]
    assert json.loads(provider.inputs["deleteUnreachable"]) is True
    assert provider.deleted_with == "cluster-containers"


def test_kind_runs_operators_as_pods() -> None:
    assert kind_cluster().value["on host"] is False


def test_kind_pool_is_chosen_among_live_nodes_and_labelled() -> None:
    graph = kind_cluster(("gang", 2))
    choice = graph["cluster-gang-pool"]
    assert (choice.step("create"), choice.step("delete")) == ("nodes", "")
    for index in range(2):
        patch = graph[f"cluster-gang-worker-{index}"]
        assert patch.type == "kubernetes:core/v1:NodePatch"
        assert patch.inputs["metadata"] == {
            "name": f"node-gang-{index}",
            "labels": {"lockstep.dev/pool": "gang"},
        }
    assert graph.value["workers"]["gang"][0] == ["node-gang-0", "4", "8Gi"]


def test_kind_pools_are_chosen_one_after_the_other() -> None:
    """Or two pools would choose the same nodes."""
    graph = kind_cluster(("gang", 1), ("constrained", 1), ("no-gang", 1))
    assert "cluster-gang-worker-0" in graph["cluster-constrained-pool"].depends_on
    assert graph.waits_for("cluster-no-gang-pool", "cluster-constrained-worker-0")
