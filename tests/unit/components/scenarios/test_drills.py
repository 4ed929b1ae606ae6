"""Scenarios that something is done to: struck, updated, scaled, kept waiting, refused."""

from __future__ import annotations

import pytest

from tests.unit.components.graph import Graph
from tests.unit.components.scenarios.test_scenarios import scenario, workload


def drill(graph: Graph, name: str) -> str:
    return graph[f"{name}-verdict-judge"].environment["LOCKSTEP_DRILL"]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("recovery", "recreated"),
        ("rolling-update", "rolled"),
        ("scale", "scaled"),
        ("leader-ready", "leader-first"),
        ("missing-rbac", "refused"),
    ],
)
def test_scenario_has_a_drill_of_its_name_and_its_verdict(name: str, verdict: str) -> None:
    graph = scenario(name, groups=2, workers=12)
    assert drill(graph, name) == name
    assert graph.value["expectation"]["verdict"] == verdict
    assert graph.value["expectation"]["gang"] is True
    assert workload(graph)["metadata"]["namespace"] == f"lockstep-{name}"


def test_recovery_starts_with_all_workers_free() -> None:
    assert scenario("recovery").blocked_workers("recovery") == 0


@pytest.mark.parametrize(("size", "groups", "blocked"), [(4, 2, 8), (3, 1, 10), (2, 3, 9)])
def test_rolling_update_leaves_room_for_exactly_its_groups(
    size: int, groups: int, blocked: int
) -> None:
    graph = scenario("rolling-update", size=size, groups=groups, workers=12)
    assert graph.blocked_workers("rolling-update") == blocked


def test_rolling_update_leaves_the_surge_to_the_drill() -> None:
    spec = workload(scenario("rolling-update", groups=2, workers=6))["spec"]
    assert "rolloutStrategy" not in spec


def test_scale_starts_where_its_drill_ends() -> None:
    graph = scenario("scale", groups=3, workers=12)
    assert workload(graph)["spec"]["replicas"] == 1
    assert graph.value["expectation"]["groups"] == 1


def test_leader_ready_is_one_group_whose_pod_group_asks_for_one_pod() -> None:
    graph = scenario("leader-ready", groups=2, workers=12)
    spec = workload(graph)["spec"]
    assert (spec["startupPolicy"], spec["replicas"]) == ("LeaderReady", 1)
    assert graph.value["expectation"]["minMember"] == 1
