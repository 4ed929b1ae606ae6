"""Scenarios whose gangs compete: for room, for a queue's share, by priority."""

import json
from typing import Any

import pytest

from tests.unit.components.graph import Graph
from tests.unit.components.scenarios.test_scenarios import fingerprint, pod_spec, scenario, workload


def crowd(name: str, **changes: Any) -> Graph:
    given: dict[str, Any] = {"workers": 2, "groups": 4}
    return scenario(name, **{**given, **changes})


def test_contention_knows_how_many_gangs_fit() -> None:
    assert crowd("contention", workers=5, size=3).value["expectation"]["atOnce"] == 3


def test_contention_control_is_the_same_set_by_the_default_scheduler() -> None:
    graph = crowd("contention-control", gang_scheduling=False)
    expectation = graph.value["expectation"]
    assert (expectation["verdict"], expectation["gang"]) == ("deadlocked", False)
    assert pod_spec(graph)["schedulerName"] == "default-scheduler"

    def neutral(spec: dict[str, Any]) -> str:
        text = json.dumps(spec, sort_keys=True)
        return text.replace("contention-control", "contention").replace(
            "default-scheduler", "volcano"
        )

    assert neutral(workload(graph)["spec"]) == neutral(workload(crowd("contention"))["spec"])


def test_another_cap_is_recorded_anew() -> None:
    before = fingerprint(scenario("queue-cap", workers=6, groups=3), "queue-cap")
    assert fingerprint(scenario("queue-cap", workers=6, groups=2), "queue-cap") != before


def test_queue_comes_before_the_set_that_names_it() -> None:
    assert scenario("queue-cap", workers=6, groups=3).waits_for("queue-cap-lws", "queue-cap-queue")


def test_sets_come_after_the_classes_that_their_pods_name() -> None:
    rivalry = scenario("preemption", workers=2)
    for name in ("preemption-lws", "preemption-rival-lws"):
        assert rivalry.waits_for(name, "preemption-low")
        assert rivalry.waits_for(name, "preemption-high")
    assert rivalry.waits_for("preemption-verdict-judge", "preemption-rival-lws")


@pytest.mark.parametrize(("size", "groups", "blocked"), [(4, 2, 8), (3, 1, 10), (2, 3, 9)])
def test_rolling_update_leaves_room_for_exactly_its_groups(
    size: int, groups: int, blocked: int
) -> None:
    graph = scenario("rolling-update", size=size, groups=groups, workers=12)
    assert graph.blocked_workers("rolling-update") == blocked
