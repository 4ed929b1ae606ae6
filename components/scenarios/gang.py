"""A gang that fits: all of its pods start together."""

from __future__ import annotations

from lockstep.judge import Workload

from .. import leader_worker_set as lws
from .. import volcano
from . import pods
from .base import Plan, Scenario, ScenarioArgs


class Gang(Scenario):
    """A LeaderWorkerSet on free workers; expects every gang `placed`."""

    scenario = "gang"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Nothing is in the way."""
        return self.gang_plan(name, args, verdict="placed", blocked=None)

    def gang_plan(
        self, name: str, args: ScenarioArgs, *, verdict: str, blocked: int | None
    ) -> Plan:
        """Groups of pods that LWS gangs together and Volcano schedules."""
        set_name = f"{name}-lws"
        set_args = self.set_args(args)
        return Plan(
            verdict=verdict,
            workload=Workload(lws.KIND, set_name),
            size=args.size,
            groups=args.groups,
            gang=True,
            blocked=blocked,
            spec=lws.spec(set_args),
            create=lambda opts: lws.LeaderWorkerSet(set_name, set_args, opts),
        )

    def set_args(self, args: ScenarioArgs) -> lws.LeaderWorkerSetArgs:
        """The set: every scenario with gangs starts from this one."""
        labels = pods.labels(self.scenario)
        return lws.LeaderWorkerSetArgs(
            namespace=self.namespace,
            size=args.size,
            groups=args.groups,
            worker_template=pods.template(args.pool, labels),
            scheduler_name=volcano.SCHEDULER_NAME,
            # With LeaderReady, LWS asks Volcano for one pod only: no gang.
            startup_policy="LeaderCreated",
            restart_policy="RecreateGroupOnPodRestart",
            labels=labels,
        )
