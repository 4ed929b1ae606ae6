from __future__ import annotations

import json
from pathlib import Path

import pulumi
import pytest

from components.taints import BlockedWorkers, BlockedWorkersArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def blocked(count: int, folder: Path | None = None) -> Graph:
    def build() -> pulumi.Output[int]:
        cluster = clusters.existing(folder) if folder else clusters.kwok()
        pool = cluster.pool("constrained", 3)
        args = BlockedWorkersArgs(cluster, pool, count)
        return BlockedWorkers("blocked", args, cluster.opts()).blocked

    return deploy(build)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_blocked_workers_are_one_resource_whatever_their_number(count: int) -> None:
    """A smaller number must be an update: deletions come only after the verdict."""
    graph = blocked(count)
    taints = graph["blocked-taints"]
    assert taints.environment["LOCKSTEP_BLOCKED"] == str(count)
    assert json.loads(taints.environment["LOCKSTEP_NODES"]) == [
        f"constrained-worker-{index}" for index in range(3)
    ]
    assert "triggers" not in taints.inputs
    assert graph.value == count


def test_blocked_workers_are_unblocked_when_the_resource_goes() -> None:
    assert blocked(2)["blocked-taints"].inputs["delete"].endswith(" taint remove")


def test_blocked_workers_wait_for_the_nodes() -> None:
    graph = blocked(2)
    for index in range(3):
        assert graph.waits_for("blocked-taints", f"cluster-constrained-worker-{index}")


def test_blocked_workers_go_through_the_context_of_an_existing_cluster(tmp_path: Path) -> None:
    environment = blocked(1, tmp_path)["blocked-taints"].environment
    assert environment["LOCKSTEP_CONTEXT"] == "mine"
    assert environment["LOCKSTEP_KUBECONFIG"] == str(tmp_path / "kubeconfig")
    assert environment["LOCKSTEP_POOL"] == "constrained"
