from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi_kubernetes.core.v1 import ContainerArgs, PodSpecArgs, PodTemplateSpecArgs

from components.leader_worker_set import (
    LeaderWorkerSet,
    LeaderWorkerSetArgs,
    RolloutStrategy,
    SubGroupPolicy,
)
from tests.unit.components.graph import LEADER_WORKER_SET, Graph, deploy


def template(image: str = "worker") -> PodTemplateSpecArgs:
    return PodTemplateSpecArgs(
        spec=PodSpecArgs(
            containers=[ContainerArgs(name="main", image=image)], enable_service_links=False
        )
    )


def pod(image: str = "worker", **more: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": image}]
    return {"spec": {"containers": containers, "enableServiceLinks": False, **more}}


def deployed(args: Callable[[], LeaderWorkerSetArgs]) -> dict[str, Any]:
    return deploy(lambda: LeaderWorkerSet("set", args()).urn)["set"].inputs


def test_set_with_nothing_but_the_needed_leaves_the_rest_to_lws() -> None:
    inputs = deployed(
        lambda: LeaderWorkerSetArgs(namespace="ns", size=4, worker_template=template())
    )
    assert inputs["apiVersion"] == "leaderworkerset.x-k8s.io/v1"
    assert inputs["kind"] == "LeaderWorkerSet"
    assert inputs["metadata"] == {
        "name": "set",
        "namespace": "ns",
        "annotations": {"pulumi.com/skipAwait": "true"},
    }
    assert inputs["spec"] == {
        "replicas": 1,
        "leaderWorkerTemplate": {"size": 4, "workerTemplate": pod()},
    }


def test_set_with_everything_has_every_field_where_lws_reads_it() -> None:
    inputs = deployed(
        lambda: LeaderWorkerSetArgs(
            namespace="ns",
            size=pulumi.Output.from_input(8),
            groups=3,
            worker_template=template(),
            leader_template=template("leader"),
            scheduler_name="volcano",
            startup_policy="LeaderReady",
            restart_policy="None",
            rollout=RolloutStrategy(max_unavailable=1, max_surge="50%", partition=0),
            sub_groups=SubGroupPolicy(size=2, type="LeaderExcluded"),
            subdomain_policy="UniquePerReplica",
            annotations={"scheduling.volcano.sh/queue-name": "research"},
            labels={"team": "a"},
        )
    )
    assert inputs["metadata"]["annotations"] == {
        "pulumi.com/skipAwait": "true",
        "scheduling.volcano.sh/queue-name": "research",
    }
    assert inputs["metadata"]["labels"] == {"team": "a"}
    assert inputs["spec"] == {
        "replicas": 3,
        "startupPolicy": "LeaderReady",
        "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": "50%", "partition": 0},
        },
        "leaderWorkerTemplate": {
            "size": 8,
            "restartPolicy": "None",
            "subGroupPolicy": {"subGroupSize": 2, "subGroupPolicyType": "LeaderExcluded"},
            "leaderTemplate": pod("leader", schedulerName="volcano"),
            "workerTemplate": pod(schedulerName="volcano"),
        },
    }


def test_set_keeps_the_callers_template_as_it_was() -> None:
    mine = template()

    def build() -> None:
        for name, scheduler in (("a", "volcano"), ("b", None)):
            LeaderWorkerSet(
                name,
                LeaderWorkerSetArgs(
                    namespace="ns", size=2, worker_template=mine, scheduler_name=scheduler
                ),
            )

    graph: Graph = deploy(build)
    templates = [r.inputs["spec"]["leaderWorkerTemplate"] for r in graph.of_type(LEADER_WORKER_SET)]
    schedulers = [t["workerTemplate"]["spec"].get("schedulerName") for t in templates]
    assert sorted(schedulers, key=str) == [None, "volcano"]


def test_set_refuses_a_scheduler_for_a_template_that_it_cannot_see() -> None:
    def args() -> LeaderWorkerSetArgs:
        unseen = PodTemplateSpecArgs(spec=pulumi.Output.from_input(PodSpecArgs(containers=[])))
        return LeaderWorkerSetArgs(
            namespace="ns", size=2, worker_template=unseen, scheduler_name="volcano"
        )

    with pytest.raises(TypeError, match="PodSpecArgs"):
        deployed(args)


def wrong_fields_are_type_errors() -> None:
    """Never called: mypy checks it, and complains when one of these is no error any more."""
    pods = template()
    LeaderWorkerSetArgs(namespace="ns", size=4, worker_template=pods, replicas=2)  # type: ignore[call-arg]
    LeaderWorkerSetArgs(namespace="ns", size="4", worker_template=pods)  # type: ignore[arg-type]
    LeaderWorkerSetArgs(namespace="ns", worker_template=pods)  # type: ignore[call-arg]
    LeaderWorkerSetArgs(namespace="ns", size=4, worker_template={"spec": {}})  # type: ignore[arg-type]
    LeaderWorkerSetArgs(namespace="ns", size=4, worker_template=pods, startup_policy="Ready")  # type: ignore[arg-type]
    LeaderWorkerSetArgs(namespace="ns", size=4, worker_template=pods, restart_policy="Never")  # type: ignore[arg-type]
    RolloutStrategy(maxSurge=1)  # type: ignore[call-arg]
    SubGroupPolicy(size=2, type="Leader")  # type: ignore[arg-type]
    PodSpecArgs(containers=[], schedulername="volcano")  # type: ignore[call-arg]
