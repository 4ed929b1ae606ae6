"""Scenarios whose gangs compete: for room, for a queue's share, by priority."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.components.graph import LEADER_WORKER_SET, Graph
from tests.unit.components.scenarios.test_scenarios import fingerprint, pod_spec, scenario, workload

QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
PRIORITY_CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"


def crowd(name: str, **changes: Any) -> Graph:
    given: dict[str, Any] = {"workers": 2, "groups": 4}
    return scenario(name, **{**given, **changes})


def judge_environment(graph: Graph, name: str) -> dict[str, str]:
    return graph[f"{name}-verdict-judge"].environment


def test_contention_knows_how_many_gangs_fit() -> None:
    assert crowd("contention", workers=5, size=3).value["expectation"]["atOnce"] == 3


def test_contention_control_is_the_same_set_by_the_default_scheduler() -> None:
    graph = crowd("contention-control", gang_scheduling=False)
    expectation = graph.value["expectation"]
    assert (expectation["verdict"], expectation["gang"]) == ("deadlocked", False)
    assert judge_environment(graph, "contention-control")["LOCKSTEP_DRILL"] == "endurance"
    assert pod_spec(graph)["schedulerName"] == "default-scheduler"

    def neutral(spec: dict[str, Any]) -> str:
        text = json.dumps(spec, sort_keys=True)
        return text.replace("contention-control", "contention").replace(
            "default-scheduler", "volcano"
        )

    assert neutral(workload(graph)["spec"]) == neutral(workload(crowd("contention"))["spec"])


def test_queue_admits_one_gang_fewer_than_there_are() -> None:
    graph = scenario("queue-cap", workers=6, groups=3)
    queue = graph["queue-cap-queue"].inputs
    assert graph["queue-cap-queue"].type == QUEUE
    assert queue["metadata"]["name"] == "lockstep-queue-cap"
    assert queue["spec"] == {
        "weight": 1,
        "reclaimable": False,
        "capability": {"cpu": "16", "memory": "32Gi"},
    }
    expectation = graph.value["expectation"]
    assert (expectation["verdict"], expectation["atOnce"]) == ("capped", 2)
    assert expectation["queue"] == "lockstep-queue-cap"


def test_set_names_the_queue_where_lws_looks_for_it_and_comes_after_it() -> None:
    graph = scenario("queue-cap", workers=6, groups=3)
    annotations = workload(graph)["metadata"]["annotations"]
    assert annotations["scheduling.volcano.sh/queue-name"] == "lockstep-queue-cap"
    assert annotations["pulumi.com/skipAwait"] == "true"
    assert graph.waits_for("queue-cap-lws", "queue-cap-queue")
    assert graph["queue-cap-queue"].parent == "queue-cap"


def test_another_cap_is_recorded_anew() -> None:
    before = fingerprint(scenario("queue-cap", workers=6, groups=3), "queue-cap")
    assert fingerprint(scenario("queue-cap", workers=6, groups=2), "queue-cap") != before


@pytest.fixture
def rivalry() -> Graph:
    return scenario("preemption", workers=2)


def test_preemption_is_a_set_and_a_rival_of_higher_priority(rivalry: Graph) -> None:
    low, high = rivalry["preemption-lws"].inputs, rivalry["preemption-rival-lws"].inputs
    assert len(rivalry.of_type(LEADER_WORKER_SET)) == 2
    assert low["spec"]["replicas"] == 1
    assert high["spec"]["replicas"] == 0  # until the drill lets it in
    templates = [one["spec"]["leaderWorkerTemplate"] for one in (low, high)]
    assert [template["size"] for template in templates] == [4, 4]
    named = [t["workerTemplate"]["spec"]["priorityClassName"] for t in templates]
    values = {
        record.inputs["metadata"]["name"]: record.inputs["value"]
        for record in rivalry.of_type(PRIORITY_CLASS)
    }
    assert named == ["lockstep-preemption-low", "lockstep-preemption-high"]
    assert values[named[0]] < values[named[1]]


def test_sets_come_after_the_classes_that_their_pods_name(rivalry: Graph) -> None:
    for name in ("preemption-lws", "preemption-rival-lws"):
        assert rivalry.waits_for(name, "preemption-low")
        assert rivalry.waits_for(name, "preemption-high")
    assert rivalry.waits_for("preemption-verdict-judge", "preemption-rival-lws")


def test_preemption_is_judged_by_both_sets(rivalry: Graph) -> None:
    expectation = rivalry.value["expectation"]
    assert expectation["verdict"] == "preempted-whole"
    assert expectation["workload"]["name"] == "preemption-lws"
    assert expectation["rival"] == {"kind": "LeaderWorkerSet", "name": "preemption-rival-lws"}
    assert judge_environment(rivalry, "preemption")["LOCKSTEP_DRILL"] == "preemption"
    # The drill writes the rival's number of groups: an update must be able to take it back.
    annotations = rivalry["preemption-rival-lws"].inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/patchForce"] == "true"
