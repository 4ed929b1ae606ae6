import functools
import json
from typing import Any

import pulumi
import pytest
import yaml

from lockstep import versions
from tests.unit.components import clusters
from tests.unit.components.graph import COMMAND, CREDENTIALS, Graph, deploy


@functools.cache
def kind_cluster(*pools: tuple[str, int]) -> Graph:
    def build() -> dict[str, Any]:
        cluster = clusters.kind()
        made = {name: cluster.pool(name, size) for name, size in pools}
        assert cluster.kubeconfig is not None
        return {
            "kubeconfig": cluster.kubeconfig,
            "kubeconfig is secret": cluster.kubeconfig.is_secret(),
            "workers": {
                name: [pulumi.Output.all(w.name, w.cpu, w.memory) for w in pool.workers]
                for name, pool in made.items()
            },
        }

    return deploy(build)


def test_kind_config_has_the_workers_and_the_pinned_image() -> None:
    containers = kind_cluster()["cluster-containers"]
    config = yaml.safe_load(containers.environment["LOCKSTEP_KIND_CONFIG"])
    assert [node["role"] for node in config["nodes"]] == ["control-plane"] + ["worker"] * 3
    assert {node["image"] for node in config["nodes"]} == {versions.KIND_NODE_IMAGE}
    assert "@sha256:" in versions.KIND_NODE_IMAGE


def test_kind_kubelets_start_on_cgroup_v1() -> None:
    containers = kind_cluster()["cluster-containers"]
    config = yaml.safe_load(containers.environment["LOCKSTEP_KIND_CONFIG"])
    patches = [yaml.safe_load(patch) for patch in config["kubeadmConfigPatches"]]
    assert patches == [{"kind": "KubeletConfiguration", "failCgroupV1": False}]


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


def test_kind_pool_is_of_labelled_workers_with_room_for_the_system() -> None:
    graph = kind_cluster(("gang", 2))
    for index, node in enumerate(("lockstep-kind-worker", "lockstep-kind-worker2")):
        patch = graph[f"cluster-gang-worker-{index}"]
        assert patch.type == "kubernetes:core/v1:NodePatch"
        assert patch.inputs["metadata"] == {"name": node, "labels": {"lockstep.dev/pool": "gang"}}
    assert graph.value["workers"]["gang"][0] == ["lockstep-kind-worker", "3500m", "7680Mi"]
    assert [command.name for command in graph.of_type(COMMAND)] == ["cluster-containers"]


def test_kind_pools_share_no_worker() -> None:
    workers = kind_cluster(("gang", 1), ("constrained", 2)).value["workers"]
    names = [name for pool in workers.values() for name, _, _ in pool]
    assert names == ["lockstep-kind-worker", "lockstep-kind-worker2", "lockstep-kind-worker3"]


def test_kind_refuses_a_pool_without_workers() -> None:
    with pytest.raises(pulumi.RunError, match="too few workers for the pool gang"):
        kind_cluster(("gang", 4))
