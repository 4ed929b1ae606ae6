"""More gangs than room, at once: they take turns, whole."""

from __future__ import annotations

from dataclasses import replace

from components import leader_worker_set as lws
from components import pools
from components.scenarios import pods
from components.scenarios.base import Plan, Scenario, ScenarioArgs
from components.scenarios.gang import Gang
from components.scenarios.no_gang import DEFAULT_SCHEDULER
from lockstep.judge import Workload


class Contention(Gang):
    """Several groups on workers that cannot take all of them; expects them `serialized`.

    A gang that has worked for a while ends, and its group queues up again: so every gang gets its
    turn only if the scheduler is fair.
    """

    scenario = "contention"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """As many gangs at once as there is room for."""
        plan = self.gang_plan(name, args, verdict="serialized", blocked=None)
        return replace(plan, drill="turns", more={"at_once": at_once(args)})


class ContentionControl(Scenario):
    """The same groups by the default scheduler, pod by pod; expects them `deadlocked`.

    It needs an LWS without the scheduler provider: with it, LWS makes PodGroups also for sets that
    another scheduler places (lws#630).
    """

    scenario = "contention-control"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Leaders come first, so each group gets a part of the room and none gets enough."""
        set_name = f"{name}-lws"
        labels = pods.labels(self.scenario)
        set_args = lws.LeaderWorkerSetArgs(
            namespace=self.namespace,
            size=args.size,
            groups=args.groups,
            worker_template=pods.template(args.pool, labels),
            scheduler_name=DEFAULT_SCHEDULER,
            startup_policy="LeaderCreated",
            restart_policy="RecreateGroupOnPodRestart",
            labels=labels,
        )
        return Plan(
            verdict="deadlocked",
            workload=Workload(lws.KIND, set_name),
            size=args.size,
            groups=args.groups,
            gang=False,
            blocked=None,
            spec=lws.spec(set_args),
            create=lambda opts: lws.LeaderWorkerSet(set_name, set_args, opts),
            drill="endurance",
        )


def at_once(args: ScenarioArgs) -> int:
    """How many gangs the free pool takes."""
    return pools.capacity(len(args.pool.workers), blocked=0) // args.size
