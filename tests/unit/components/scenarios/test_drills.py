"""Scenarios that something is done to: struck, updated, scaled, kept waiting, refused."""

from __future__ import annotations

import pytest

from tests.unit.components.scenarios.test_scenarios import scenario, workload


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
