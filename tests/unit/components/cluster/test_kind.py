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
        return {
            "path": cluster.kubeconfig_path,
            "path is secret": cluster.kubeconfig_path.is_secret(),
            "kubeconfig": cluster.kubeconfig,
            "kubeconfig is secret": cluster.kubeconfig.is_secret(),
            "context": cluster.context or "",
            "provider": cluster.provider_name,
            "host operators": cluster.host_operators,
            "workers": {
                name: [pulumi.Output.all(w.name, w.cpu, w.memory) for w in pool.workers]
                for name, pool in made.items()
            },
        }

    return deploy(build)


def test_kind_makes_and_removes_the_cluster_by_its_own_command_line() -> None:
    containers = kind_cluster()["cluster-containers"]
    assert containers.inputs["create"] == '"$LOCKSTEP_PYTHON" -m lockstep step kind create'
    assert containers.inputs["delete"] == '"$LOCKSTEP_PYTHON" -m lockstep step kind delete'
    assert containers.environment["LOCKSTEP_CLUSTER"] == "lockstep-kind"


def test_kind_config_has_the_workers_and_the_pinned_image() -> None:
    containers = kind_cluster()["cluster-containers"]
    config = yaml.safe_load(containers.environment["LOCKSTEP_KIND_CONFIG"])
    assert [node["role"] for node in config["nodes"]] == ["control-plane"] + ["worker"] * 3
    assert {node["image"] for node in config["nodes"]} == {versions.KIND_NODE_IMAGE}
    assert "@sha256:" in versions.KIND_NODE_IMAGE


def test_kind_makes_a_new_cluster_when_its_config_changes_and_never_two() -> None:
    containers = kind_cluster()["cluster-containers"]
    assert containers.inputs["triggers"] == [containers.environment["LOCKSTEP_KIND_CONFIG"]]
    assert containers.delete_first


def test_kind_kubeconfig_is_secret_and_its_path_is_not() -> None:
    graph = kind_cluster()
    assert graph.value["kubeconfig"] == CREDENTIALS
    assert graph.value["kubeconfig is secret"] is True
    assert graph.value["path"] == "/state/kubeconfig"
    assert graph.value["path is secret"] is False
    assert graph["cluster-containers"].secret_outputs == {"stdout"}
    assert "kubeconfig" in graph["cluster-provider"].secret_inputs


def test_kind_provider_gives_up_on_a_cluster_that_is_gone() -> None:
    provider = kind_cluster()["cluster-provider"]
    assert json.loads(provider.inputs["deleteUnreachable"]) is True
    assert provider.deleted_with == "cluster-containers"


def test_kind_runs_operators_as_pods() -> None:
    value = kind_cluster().value
    assert value["host operators"] is False
    assert value["provider"] == "kind"
    assert value["context"] == ""


def test_kind_pool_is_chosen_among_live_nodes_and_labelled() -> None:
    graph = kind_cluster(("gang", 2))
    choice = graph["gang-pool"]
    assert choice.inputs["create"].endswith(" nodes")
    assert choice.environment["LOCKSTEP_POOL"] == "gang"
    assert choice.environment["LOCKSTEP_POOL_SIZE"] == "2"
    assert "delete" not in choice.inputs
    for index in range(2):
        patch = graph[f"gang-worker-{index}"]
        assert patch.type == "kubernetes:core/v1:NodePatch"
        assert patch.inputs["metadata"] == {
            "name": f"node-gang-{index}",
            "labels": {"lockstep.dev/pool": "gang"},
        }
    assert graph.value["workers"]["gang"][0] == ["node-gang-0", "4", "8Gi"]


def test_kind_pools_are_chosen_one_after_the_other() -> None:
    """Or two pools would choose the same nodes."""
    graph = kind_cluster(("gang", 1), ("constrained", 1), ("no-gang", 1))
    assert graph["gang-pool"].depends_on.isdisjoint({"constrained-worker-0", "no-gang-worker-0"})
    assert "gang-worker-0" in graph["constrained-pool"].depends_on
    assert graph.waits_for("no-gang-pool", "constrained-worker-0")
