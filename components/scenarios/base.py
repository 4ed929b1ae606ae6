"""The frame of every scenario: namespace, recorder, blocked workers, workload, verdict."""

from __future__ import annotations

import abc
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge import Expectation, Workload

from ..cluster.base import Cluster
from ..pools import WorkerPool
from ..taints import BlockedWorkers, BlockedWorkersArgs
from ..verdict import Verdict, VerdictArgs, Watch, WatchArgs


@dataclass(frozen=True)
class ScenarioArgs:
    """Where a scenario runs, how large it is, and what it runs on."""

    cluster: Cluster
    """The cluster."""
    pool: WorkerPool
    """Workers that no other scenario uses."""
    size: int
    """Pods per gang, leader included."""
    groups: int
    """Gangs."""
    blocked: int
    """Workers of the pool to block, in the scenarios that block any."""
    gang_scheduling: bool
    """Whether the platform turns groups into PodGroups."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The platform's versions: a change of them is judged anew, and is in the receipt."""
    installed: Sequence[pulumi.Resource] = ()
    """What has to be there before a recorder: the kinds that it follows; empty: all of `ready`."""
    ready: Sequence[pulumi.Resource] = ()
    """What has to be there before a workload: operators, their config and their rights."""


@dataclass(frozen=True)
class Plan:
    """What a scenario deploys, and what that must show."""

    verdict: str
    """The verdict that the numbers lead to."""
    workload: Workload
    """The object whose pods are judged."""
    size: int
    """Pods of one gang, as the judge counts them."""
    groups: int
    """Gangs, as the judge counts them."""
    gang: bool
    """Whether a PodGroup must hold the pods together; if not, there must be none."""
    blocked: int | None
    """Workers to block; None where none ever is."""
    spec: Any
    """All of the workload that matters to the outcome."""
    create: Callable[[pulumi.ResourceOptions], pulumi.Resource]
    """Creates the workload."""
    drill: str | None = None
    """What is done to the workload before it is judged: a module of `lockstep.drills`."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of `lockstep.judge.Expectation`, where the scenario's verdict needs them."""


class Scenario(pulumi.ComponentResource, abc.ABC):
    """A workload under watch, and the judgement of what became of it.

    The recorder starts before anything else, so that nothing is missed, and anew whenever the
    workload, the taints or the platform change.
    """

    scenario: ClassVar[str]
    """The name in the stack's config."""

    namespace: pulumi.Output[str]
    """The namespace of the workload."""
    expectation: pulumi.Output[dict[str, Any]]
    """What the scenario must show: `lockstep.judge.Expectation` as a mapping."""
    verdict: pulumi.Output[dict[str, Any]]
    """What it showed."""

    def __init__(
        self, name: str, args: ScenarioArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(f"lockstep:scenario:{type(self).__name__}", name, None, opts)
        self.namespace = self._namespace(name, args.cluster)
        plan = self.plan(name, args)
        watch = self._watch(name, args, plan)
        steps = [*args.ready, watch, *self._blocked(name, args, plan, watch)]
        # Invisible order: the platform must serve, the recorder watch, the workers be blocked.
        steps.append(plan.create(args.cluster.opts(self, depends_on=list(steps))))
        self.expectation = self._expectation(args, plan)
        judged = Verdict(
            f"{name}-verdict",
            VerdictArgs(watch, self.expectation, _context(args, plan), plan.drill),
            # Judging uses no output of the workload, but there must be one.
            opts=args.cluster.opts(self, depends_on=steps),
        )
        self.verdict = judged.result
        self.register_outputs(
            {
                "namespace": self.namespace,
                "expectation": self.expectation,
                "verdict": self.verdict,
            }
        )

    @abc.abstractmethod
    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Decide what is deployed and expected; creates nothing."""

    def _namespace(self, name: str, cluster: Cluster) -> pulumi.Output[str]:
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=f"lockstep-{self.scenario}",
                labels={"pod-security.kubernetes.io/enforce": "restricted"},
            ),
            opts=cluster.opts(self),
        )
        found: pulumi.Output[str] = namespace.metadata.name
        return found

    def _watch(self, name: str, args: ScenarioArgs, plan: Plan) -> Watch:
        return Watch(
            f"{name}-watch",
            WatchArgs(
                cluster=args.cluster,
                scenario=self.scenario,
                namespace=self.namespace,
                pool=args.pool.name,
                fingerprint=fingerprint(args, plan),
            ),
            # It need not wait for the operators: those may still be starting meanwhile.
            opts=args.cluster.opts(self, depends_on=list(args.installed or args.ready)),
        )

    def _blocked(
        self, name: str, args: ScenarioArgs, plan: Plan, watch: Watch
    ) -> list[pulumi.Resource]:
        if plan.blocked is None:
            return []
        blocked = BlockedWorkers(
            f"{name}-blocked",
            BlockedWorkersArgs(args.cluster, args.pool, plan.blocked),
            # A taint that goes while nobody watches would not be seen to release a gang.
            opts=args.cluster.opts(self, depends_on=[watch]),
        )
        return [blocked]

    def _expectation(self, args: ScenarioArgs, plan: Plan) -> pulumi.Output[dict[str, Any]]:
        return pulumi.Output.all(
            namespace=self.namespace, cpu=args.pool.pod_cpu, memory=args.pool.pod_memory
        ).apply(
            lambda known: Expectation(
                scenario=self.scenario,
                verdict=plan.verdict,
                namespace=known["namespace"],
                workload=plan.workload,
                size=plan.size,
                groups=plan.groups,
                requests={"cpu": known["cpu"], "memory": known["memory"]},
                gang=plan.gang,
                **plan.more,
            ).to_mapping()
        )


def fingerprint(args: ScenarioArgs, plan: Plan) -> pulumi.Output[str]:
    """Hash whatever changes the outcome: when it changes, a new recording starts."""
    inputs = {
        "spec": plan.spec,
        "blocked": plan.blocked,
        "gangScheduling": args.gang_scheduling,
        "versions": dict(args.versions),
        "workers": [worker.name for worker in args.pool.workers],
    }
    return pulumi.Output.from_input(inputs).apply(_digest)


def _digest(known: Any) -> str:
    # Pulumi's argument classes keep their values in __dict__.
    text = json.dumps(known, default=vars, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _context(args: ScenarioArgs, plan: Plan) -> dict[str, Any]:
    """Say in the receipt what concerns this scenario; of more, any change would judge it anew."""
    return {
        "versions": dict(args.versions),
        "config": {
            "workersPerScenario": len(args.pool.workers),
            "taintedWorkers": plan.blocked or 0,
            "groupSize": args.size,
            "groups": args.groups,
            "gangScheduling": args.gang_scheduling,
        },
        "cluster": {"name": args.cluster.cluster_name, "provider": args.cluster.provider_name},
        "workers": [{"name": w.name, "cpu": w.cpu, "memory": w.memory} for w in args.pool.workers],
    }
