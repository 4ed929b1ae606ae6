"""The frame of every scenario: namespace, recorder, blocked workers, workload, verdict."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge.model import Expectation
from lockstep.scenarios.model import Scenario as Entry
from lockstep.scenarios.model import Sizes
from lockstep.scenarios.registry import SCENARIOS

from ..cluster.base import Cluster
from ..command import digest
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


class Scenario(pulumi.ComponentResource, abc.ABC):
    """A workload that is recorded, and the judgement of the recording.

    The recorder starts before anything else, so that it misses nothing, and again whenever the
    workload, the taints or the platform change. Two instances with different names do not collide:
    namespace, workload, recording and receipt are named after the instance.
    """

    scenario: ClassVar[str]
    """The name of the entry in lockstep/scenarios/registry.py."""

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
        self.expectation = self._expectation()
        watch = self._watch()
        before = [*args.ready, watch, *self._blocked(watch)]
        # Invisible order: the platform must serve, the recorder watch, the workers be blocked.
        workload = self.create(args.cluster.opts(self, depends_on=before))
        judged = Judgement(
            f"{name}-verdict",
            JudgementArgs(
                watch,
                self.expectation,
                self._receipt_context(),
                self.entry.drill,
                # Known once it is created.
                uid=workload.metadata.apply(lambda metadata: metadata.get("uid")),
            ),
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

    @staticmethod
    def scheduler_conf(_volcano: str) -> str | None:
        """Return the configuration that a version of Volcano must run; None: the chart's own."""
        return None

    @abc.abstractmethod
    def create(self, opts: pulumi.ResourceOptions) -> Any:
        """Create the workload and return its resource."""

    @abc.abstractmethod
    def outcome_spec(self) -> Any:
        """Return everything in the workload that changes the outcome, which is then judged again.

        It creates nothing, as the recorder starts before the workload.
        """

    @abc.abstractmethod
    def expects(self) -> dict[str, Any]:
        """Return the fields of `lockstep.judge.model.Expectation` that describe the workload."""

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

    def _watch(self) -> Watch:
        args = self._args
        return Watch(
            f"{self._name}-watch",
            WatchArgs(
                cluster=args.cluster,
                scenario=self._name,
                namespace=self.namespace,
                pool=args.pool.name,
                fingerprint=digest(self._fingerprint()),
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

    def _expectation(self) -> pulumi.Output[dict[str, Any]]:
        pool = self._args.pool
        return pulumi.Output.all(
            namespace=self.namespace, cpu=pool.pod_cpu, memory=pool.pod_memory
        ).apply(
            lambda known: Expectation(
                scenario=self.scenario,
                verdict=self.entry.verdict(self._args.sizes),
                namespace=known["namespace"],
                requests={"cpu": known["cpu"], "memory": known["memory"]},
                **self.expects(),
            ).to_mapping()
        )

    def _fingerprint(self) -> dict[str, Any]:
        """Return whatever changes the outcome: when it changes, a new recording starts."""
        return {
            "spec": self.outcome_spec(),
            "blocked": self.blocked,
            "gangScheduling": self._args.gang_scheduling,
            "versions": dict(self._args.versions),
            "workers": [worker.name for worker in self._args.pool.workers],
        }

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
