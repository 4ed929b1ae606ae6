"""The frame of every scenario: namespace, recorder, blocked workers, workload, verdict."""

from __future__ import annotations

import abc
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge.model import Expectation, Workload
from lockstep.scenarios.model import Scenario as Entry
from lockstep.scenarios.model import Sizes
from lockstep.scenarios.registry import SCENARIOS

from ..cluster.base import Cluster
from ..pools import WorkerPool
from ..taints import BlockedWorkers, BlockedWorkersArgs
from ..verdict import Judgement, JudgementArgs, Watch, WatchArgs


@dataclass(frozen=True)
class ScenarioArgs:
    """Where a scenario runs, how large it is, and what it runs on."""

    cluster: Cluster
    """The cluster."""
    pool: WorkerPool
    """Workers that no other scenario uses."""
    sizes: Sizes
    """The numbers of workers, blocked workers, pods and gangs."""
    gang_scheduling: bool
    """Whether the platform turns groups into PodGroups."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The platform's versions: they are in the receipt, and a change of them is judged again."""
    installed: Sequence[pulumi.Resource] = ()
    """What must exist before the recorder: the kinds that it watches; empty: all of `ready`."""
    ready: Sequence[pulumi.Resource] = ()
    """What must exist before the workload: operators, their config and their permissions."""


@dataclass(frozen=True)
class Deployed:
    """The workload of a scenario, described for the judge."""

    workload: Workload
    """The object whose pods are judged."""
    size: int
    """Pods of one gang, as the judge counts them."""
    groups: int
    """Gangs, as the judge counts them."""
    spec: Any
    """Everything in the workload that changes the outcome; a change of it is judged again."""
    gang: bool = True
    """Whether a PodGroup must hold the pods together; if not, there must be none."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of `lockstep.judge.model.Expectation`, where the verdict needs them."""


class Scenario(pulumi.ComponentResource, abc.ABC):
    """A workload that is recorded, and the judgement of the recording.

    The recorder starts before anything else, so that it misses nothing, and again whenever the
    workload, the taints or the platform change. Two instances with different names do not collide:
    namespace, workload, recording and receipt are named after the instance.
    """

    scenario: ClassVar[str]
    """The name of the entry in lockstep/scenarios/registry.py."""
    scheduler_conf: ClassVar[str | None] = None
    """Volcano's configuration where the scenario needs its own; None: the chart's."""

    namespace: pulumi.Output[str]
    """The namespace of the workload."""
    expectation: pulumi.Output[dict[str, Any]]
    """What the scenario must show: `lockstep.judge.model.Expectation` as a mapping."""
    verdict: pulumi.Output[dict[str, Any]]
    """What the scenario showed."""

    def __init__(
        self, name: str, args: ScenarioArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(f"lockstep:scenario:{type(self).__name__}", name, None, opts)
        self._name = name
        self._args = args
        self.entry: Entry = SCENARIOS[self.scenario]
        self.namespace = self._namespace()
        deployed = self.describe()
        watch = self._watch(deployed)
        before = [*args.ready, watch, *self._blocked(watch)]
        # Invisible order: the platform must serve, the recorder watch, the workers be blocked.
        workload = self.create(args.cluster.opts(self, depends_on=before))
        self.expectation = self._expectation(deployed)
        judged = Judgement(
            f"{name}-verdict",
            JudgementArgs(watch, self.expectation, self._receipt_context(), self.entry.drill),
            # The verdict uses no output of the workload, but must come after it.
            opts=args.cluster.opts(self, depends_on=[*before, workload]),
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
    def describe(self) -> Deployed:
        """Describe the workload for the judge; creates nothing."""

    @abc.abstractmethod
    def create(self, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """Create the workload."""

    @property
    def blocked(self) -> int | None:
        """Workers to block; None if the scenario never blocks any."""
        return self._args.sizes.blocked if self.entry.needs.blocks_workers else None

    def scoped(self, suffix: str = "") -> str:
        """Return a name that no other instance and no other stack uses in the cluster."""
        return self._args.cluster.scoped(f"{self._name}-{suffix}" if suffix else self._name)

    def _namespace(self) -> pulumi.Output[str]:
        namespace = kubernetes.core.v1.Namespace(
            f"{self._name}-namespace",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=self.scoped(), labels={"pod-security.kubernetes.io/enforce": "restricted"}
            ),
            opts=self._args.cluster.opts(self),
        )
        name: pulumi.Output[str] = namespace.metadata.name
        return name

    def _watch(self, deployed: Deployed) -> Watch:
        args = self._args
        return Watch(
            f"{self._name}-watch",
            WatchArgs(
                cluster=args.cluster,
                scenario=self._name,
                namespace=self.namespace,
                pool=args.pool.name,
                fingerprint=self._fingerprint(deployed),
            ),
            # The recorder need not wait for the operators, which may still be starting.
            opts=args.cluster.opts(self, depends_on=list(args.installed or args.ready)),
        )

    def _blocked(self, watch: Watch) -> list[pulumi.Resource]:
        if self.blocked is None:
            return []
        blocked = BlockedWorkers(
            f"{self._name}-blocked",
            BlockedWorkersArgs(self._args.cluster, self._args.pool, self.blocked),
            # The recorder must see the removal of a taint that releases a gang.
            opts=self._args.cluster.opts(self, depends_on=[watch]),
        )
        return [blocked]

    def _expectation(self, deployed: Deployed) -> pulumi.Output[dict[str, Any]]:
        pool = self._args.pool
        return pulumi.Output.all(
            namespace=self.namespace, cpu=pool.pod_cpu, memory=pool.pod_memory
        ).apply(
            lambda known: Expectation(
                scenario=self.scenario,
                verdict=self.entry.verdict(self._args.sizes),
                namespace=known["namespace"],
                workload=deployed.workload,
                size=deployed.size,
                groups=deployed.groups,
                requests={"cpu": known["cpu"], "memory": known["memory"]},
                gang=deployed.gang,
                **deployed.more,
            ).to_mapping()
        )

    def _fingerprint(self, deployed: Deployed) -> pulumi.Output[str]:
        """Hash whatever changes the outcome: when the hash changes, a new recording starts."""
        inputs = {
            "spec": deployed.spec,
            "blocked": self.blocked,
            "gangScheduling": self._args.gang_scheduling,
            "versions": dict(self._args.versions),
            "workers": [worker.name for worker in self._args.pool.workers],
        }
        return pulumi.Output.from_input(inputs).apply(_digest)

    def _receipt_context(self) -> dict[str, Any]:
        """Return what the receipt says besides; only what concerns this scenario.

        A change of anything else would have the scenario judged again.
        """
        args = self._args
        step = self.entry.step(args.sizes).name
        return {
            "step": step.replace(self.scenario, self._name, 1),
            "versions": dict(args.versions),
            "config": {
                "workersPerScenario": args.sizes.workers,
                "taintedWorkers": self.blocked or 0,
                "groupSize": args.sizes.size,
                "groups": args.sizes.groups,
                "gangScheduling": args.gang_scheduling,
            },
            "cluster": {"name": args.cluster.cluster_name, "provider": args.cluster.provider_name},
            "workers": [
                {"name": worker.name, "cpu": worker.cpu, "memory": worker.memory}
                for worker in args.pool.workers
            ],
        }


def _digest(known: Any) -> str:
    # Pulumi's argument classes keep their values in __dict__.
    text = json.dumps(known, default=vars, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
