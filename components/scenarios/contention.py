"""More gangs than room, at once: they take turns, whole."""

from __future__ import annotations

from dataclasses import replace

from .. import leader_worker_set as lws
from .. import pools
from .base import Plan, ScenarioArgs
from .gang import Gang
from .no_gang import DEFAULT_SCHEDULER


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


class ContentionControl(Gang):
    """The same groups by the default scheduler, pod by pod; expects them `deadlocked`.

    It needs an LWS without the scheduler provider: with it, LWS makes PodGroups also for sets that
    another scheduler places (lws#630).
    """

    scenario = "contention-control"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Leaders come first, so each group gets a part of the room and none gets enough."""
        plan = self.gang_plan(name, args, verdict="deadlocked", blocked=None)
        return replace(plan, gang=False, drill="endurance", more={"at_once": at_once(args)})

    def set_args(self, args: ScenarioArgs) -> lws.LeaderWorkerSetArgs:
        """The same set for another scheduler."""
        return replace(super().set_args(args), scheduler_name=DEFAULT_SCHEDULER)


def at_once(args: ScenarioArgs) -> int:
    """How many gangs the free pool takes."""
    return pools.capacity(len(args.pool.workers), blocked=0) // args.size
