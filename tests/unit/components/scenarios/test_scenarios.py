import functools
import json
from pathlib import Path
from typing import Any

import pulumi_kubernetes as kubernetes
import pytest

from components.cluster.base import Cluster
from components.scenarios import SCENARIOS, Scenario, ScenarioArgs
from lockstep import versions
from lockstep.scenarios.model import Sizes
from lockstep.scenarios.registry import SCENARIOS as REGISTRY
from tests.unit.components import clusters
from tests.unit.components.graph import LEADER_WORKER_SET, Graph, Record, deploy

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
WORKERS, GROUPS = 9, 3
BLOCKED = {"constrained": 2, "no-gang": 2, "rolling-update": 3}
"""Workers blocked with these numbers, where any are."""
STEPS = {"constrained": "constrained-released"}
"""Steps that are not named after their scenario, with these numbers."""


def scenario(
    kind: str,
    *,
    name: str = "",
    folder: Path | None = None,
    graph: Graph | None = None,
    workers: int = 3,
    blocked: int = 2,
    size: int = 4,
    groups: int = 1,
    **changes: Any,
) -> Graph:
    """One scenario on an embedded cluster, or on an existing one in `folder`."""
    given: dict[str, Any] = {"gang_scheduling": True, "versions": {"lws": "0.8.0"}} | changes
    entry = REGISTRY[kind]
    sizes = Sizes(workers, blocked, size, entry.groups or groups)

    def build() -> dict[str, Any]:
        cluster: Cluster = clusters.existing(folder) if folder else clusters.kwok()
        kinds = kubernetes.core.v1.Namespace("kinds", opts=cluster.opts())
        platform = kubernetes.core.v1.Namespace("platform", opts=cluster.opts())
        pool = cluster.pool(name or kind, workers)
        args = ScenarioArgs(cluster, pool, sizes, installed=[kinds], ready=[platform], **given)
        made: Scenario = SCENARIOS[kind](name or kind, args, cluster.opts())
        return {
            "namespace": made.namespace,
            "expectation": made.expectation,
            "verdict": made.verdict,
        }

    return deploy(build, graph=graph)


@functools.cache
def plain(name: str) -> Graph:
    """The scenario with enough groups for any of them; deployed once, as tests only look."""
    return changed(name)


def changed(name: str, **changes: Any) -> Graph:
    """The same with some arguments changed."""
    return scenario(name, **{"groups": GROUPS, "workers": WORKERS, **changes})


def workload(graph: Graph) -> dict[str, Any]:
    return workload_record(graph).inputs


def workload_record(graph: Graph) -> Record:
    found = [*graph.of_type(LEADER_WORKER_SET), *graph.of_type(DEPLOYMENT)]
    (judged,) = [record for record in found if "rival" not in record.name]
    return judged


def pod_spec(graph: Graph) -> dict[str, Any]:
    spec = workload(graph)["spec"]
    template = spec.get("template") or spec["leaderWorkerTemplate"]["workerTemplate"]
    return template["spec"]  # type: ignore[no-any-return]


def fingerprint(graph: Graph, name: str) -> str:
    return graph[f"{name}-watch-recorder"].environment["LOCKSTEP_RERUN_WHEN"]


def test_constrained_expects_the_gang_to_be_held_while_it_does_not_fit() -> None:
    graph = scenario("constrained")
    assert graph.blocked_workers("constrained") == 2
    assert graph.value["expectation"]["verdict"] == "held"


def test_constrained_expects_release_once_the_gang_fits() -> None:
    graph = scenario("constrained", blocked=1)
    assert graph.value["expectation"]["verdict"] == "released"
    assert graph.blocked_workers("constrained") == 1


def test_no_gang_is_as_many_plain_pods_by_the_default_scheduler() -> None:
    graph = scenario("no-gang", size=2, groups=2)
    assert workload(graph)["spec"]["replicas"] == 4
    assert pod_spec(graph)["schedulerName"] == "default-scheduler"
    assert graph.of_type(LEADER_WORKER_SET) == []
    assert graph.blocked_workers("no-gang") == 2


@pytest.mark.parametrize("name", SCENARIOS)
class TestEveryScenario:
    def test_has_a_namespace_of_its_own_that_admits_harmless_pods_only(self, name: str) -> None:
        graph = plain(name)
        namespace = graph[f"{name}-namespace"].inputs["metadata"]
        assert namespace["name"] == f"lockstep-{name}" == graph.value["namespace"]
        assert namespace["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
        assert workload(graph)["metadata"]["namespace"] == f"lockstep-{name}"

    def test_pod_is_pinned_by_digest_and_stays_in_its_pool(self, name: str) -> None:
        pod = pod_spec(plain(name))
        assert pod["containers"][0]["image"] == versions.WORKLOAD_IMAGE
        assert "@sha256:" in versions.WORKLOAD_IMAGE
        assert pod["nodeSelector"] == {"lockstep.dev/pool": name}

    def test_pod_requests_half_of_a_worker(self, name: str, tmp_path: Path) -> None:
        graph = scenario(
            name, folder=tmp_path, graph=Graph(workers={"cpu": "1930m", "memory": "3Gi"})
        )
        requests = {"cpu": "965m", "memory": "1536Mi"}
        assert pod_spec(graph)["containers"][0]["resources"] == {"requests": requests}
        assert graph.value["expectation"]["requests"] == requests

    def test_workload_is_not_waited_for(self, name: str) -> None:
        annotations = workload(plain(name))["metadata"]["annotations"]
        assert annotations["pulumi.com/skipAwait"] == "true"

    def test_is_watched_before_and_judged_after_its_workload(self, name: str) -> None:
        graph = plain(name)
        load = workload_record(graph)
        assert graph.waits_for(f"{name}-watch-recorder", "kinds")
        assert not graph.waits_for(f"{name}-watch-recorder", "platform")
        assert graph.waits_for(load.name, f"{name}-watch-recorder")
        assert graph.waits_for(load.name, "platform")
        assert graph.waits_for(f"{name}-verdict-judge", load.name)
        if f"{name}-blocked" in graph.records:
            assert graph.waits_for(f"{name}-blocked-0-taints", f"{name}-watch-recorder")
            assert graph.waits_for(load.name, f"{name}-blocked-0-taints")

    def test_recreated_workload_is_judged_and_not_recorded_again(self, name: str) -> None:
        first, second = plain(name), changed(name, graph=Graph(uid="2"))
        judge, recorder = f"{name}-verdict-judge", f"{name}-watch-recorder"
        assert first[judge].environment != second[judge].environment
        assert first[recorder].environment == second[recorder].environment

    def test_receipt_says_what_concerns_it(self, name: str) -> None:
        environment = plain(name)[f"{name}-verdict-judge"].environment
        context = json.loads(environment["LOCKSTEP_RECEIPT_CONTEXT"])
        assert context["cluster"] == {"name": "lockstep-gang", "provider": "kwok"}
        assert context["versions"] == {"lws": "0.8.0"}
        assert context["config"] == {
            "workersPerScenario": WORKERS,
            "taintedWorkers": BLOCKED.get(name, 0),
            "groupSize": 4,
            "groups": REGISTRY[name].groups or GROUPS,
            "gangScheduling": True,
        }
        assert context["step"] == STEPS.get(name, name)
        assert context["workers"][0] == {"name": f"{name}-worker-0", "cpu": "4", "memory": "8Gi"}

    @pytest.mark.parametrize(
        "change",
        [{"size": 3}, {"gang_scheduling": False}, {"versions": {"lws": "0.9.0"}}, {"workers": 10}],
        ids=str,
    )
    def test_is_recorded_again_when_its_outcome_may_change(
        self, name: str, change: dict[str, Any]
    ) -> None:
        assert fingerprint(changed(name, **change), name) != fingerprint(plain(name), name)

    def test_is_not_recorded_again_for_nothing(self, name: str) -> None:
        assert fingerprint(changed(name), name) == fingerprint(plain(name), name)

    def test_is_recorded_again_when_its_taints_change(self, name: str) -> None:
        same = fingerprint(changed(name, blocked=1), name) == fingerprint(plain(name), name)
        assert same != REGISTRY[name].needs.blocks_workers

    def test_is_recorded_again_when_its_workers_are_of_another_size(
        self, name: str, tmp_path: Path
    ) -> None:
        graphs = [
            scenario(name, folder=tmp_path, graph=Graph(workers={"cpu": cpu, "memory": "8Gi"}))
            for cpu in ("4", "6")
        ]
        assert fingerprint(graphs[0], name) != fingerprint(graphs[1], name)


def test_two_instances_of_a_scenario_share_no_name(tmp_path: Path) -> None:
    graph = scenario("queue-cap", name="proof", folder=tmp_path, groups=2, workers=4)
    assert graph.value["namespace"] == "lockstep-mine-proof"
    assert graph["proof-queue"].inputs["metadata"]["name"] == "lockstep-mine-proof"
    assert graph.value["expectation"]["workload"]["name"] == "proof-lws"
    assert graph["proof-watch-recorder"].environment["LOCKSTEP_SCENARIO"] == "proof"
    context = graph["proof-verdict-judge"].environment["LOCKSTEP_RECEIPT_CONTEXT"]
    assert json.loads(context)["step"] == "proof"
