import json
from collections.abc import Callable
from pathlib import Path

import pytest

from components.cluster.base import Cluster
from components.taints import BlockedWorkers, BlockedWorkersArgs
from tests.unit.components import clusters
from tests.unit.components.graph import COMMAND, Graph, deploy


def blocked(count: int, cluster: Callable[[], Cluster] = clusters.kwok) -> Graph:
    def build() -> None:
        made = cluster()
        args = BlockedWorkersArgs(made, made.pool("constrained", 3), count)
        BlockedWorkers("blocked", args, made.opts())

    return deploy(build)


def taints_of(graph: Graph) -> list[list[dict[str, str]]]:
    patches = [graph[f"blocked-{index}-taints"] for index in range(3)]
    assert {patch.type for patch in patches} == {"kubernetes:core/v1:NodePatch"}
    return [patch.inputs["spec"]["taints"] for patch in patches]


@pytest.mark.parametrize("cluster", [clusters.kwok, clusters.kind])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_workers_of_an_owned_cluster_have_a_patch_each(
    count: int, cluster: Callable[[], Cluster]
) -> None:
    """Also a free worker: a smaller number is an update, as deletions come after the verdict."""
    taint = {"key": "lockstep.dev/blocked", "value": "constrained", "effect": "NoSchedule"}
    assert taints_of(blocked(count, cluster)) == [[taint]] * count + [[]] * (3 - count)


def test_patches_wait_for_the_nodes() -> None:
    graph = blocked(2)
    for index in range(3):
        assert graph.waits_for(f"blocked-{index}-taints", f"cluster-constrained-worker-{index}")


@pytest.mark.parametrize("count", [0, 2])
def test_workers_of_an_existing_cluster_are_changed_by_one_command(
    count: int, tmp_path: Path
) -> None:
    """A patch would own the taints of others, too."""
    graph = blocked(count, lambda: clusters.existing(tmp_path))
    command = graph["blocked-taints"]
    assert command.type == COMMAND
    assert (command.step("create"), command.step("delete")) == ("taint apply", "taint remove")
    assert command.environment["LOCKSTEP_BLOCKED"] == str(count)
    assert len(json.loads(command.environment["LOCKSTEP_NODES"])) == 3
    assert command.environment["LOCKSTEP_POOL"] == "lockstep-mine-constrained"
