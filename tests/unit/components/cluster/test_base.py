from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from pulumi_command import local

from components.cluster.base import Cluster
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def child_of(cluster: Callable[[], Cluster]) -> Graph:
    def build() -> None:
        made = cluster()
        parent = pulumi.ComponentResource("test:index:Parent", "parent", None, made.opts())
        kubernetes.core.v1.Namespace("namespace", opts=made.opts(parent))
        local.Command("command", opts=made.opts(parent, delete_before_replace=True))

    return deploy(build)


@pytest.mark.parametrize(
    ("cluster", "owner"),
    [(clusters.kwok, "cluster-control-plane"), (clusters.kind, "cluster-containers")],
)
def test_child_in_an_owned_cluster_goes_with_it(cluster: Callable[[], Cluster], owner: str) -> None:
    graph = child_of(cluster)
    for name in ("parent", "namespace", "command"):
        assert graph[name].deleted_with == owner


def test_child_in_an_existing_cluster_is_deleted_by_itself(tmp_path: Path) -> None:
    graph = child_of(lambda: clusters.existing(tmp_path))
    for name in ("parent", "namespace", "command"):
        assert graph[name].deleted_with == ""


def test_child_has_parent_provider_and_what_was_asked_for() -> None:
    graph = child_of(clusters.kwok)
    assert graph["namespace"].parent == graph["command"].parent == "parent"
    assert graph["namespace"].provider == "cluster-provider"
    assert graph["command"].provider != "cluster-provider"
    assert graph["command"].delete_first


def scoped(cluster: Callable[[], Cluster], name: str) -> str:
    found: str = deploy(lambda: cluster().scoped(name)).value
    return found


def test_scoped_name_carries_the_name_of_a_cluster_that_is_shared(tmp_path: Path) -> None:
    assert scoped(clusters.kwok, "gang") == "lockstep-gang"
    assert scoped(lambda: clusters.existing(tmp_path), "gang") == "lockstep-mine-gang"


def test_scoped_name_is_cut_to_the_length_of_a_label_and_stays_unique(tmp_path: Path) -> None:
    one, other = (scoped(lambda: clusters.existing(tmp_path), "x" * 60 + end) for end in "ab")
    assert len(one) == len(other) == 63
    assert one != other
