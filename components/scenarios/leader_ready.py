"""Workers that wait for their leader: what is left of the gang then."""

from __future__ import annotations

import dataclasses

from .. import leader_worker_set as lws
from .base import Plan, ScenarioArgs
from .gang import Gang


class LeaderReady(Gang):
    """One group with startupPolicy LeaderReady; expects `leader-first`, which is no gang.

    LWS makes the workers when the leader is ready, so the leader must be placed alone: its
    PodGroup has minMember 1, and whatever fits is bound. The drill shows it on too small a pool.
    """

    scenario = "leader-ready"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A set as in `gang` but for its startup policy, and what is done to it."""
        args = dataclasses.replace(args, groups=1)
        plan = self.gang_plan(name, args, verdict="leader-first", blocked=0)
        return dataclasses.replace(plan, drill="leader-ready", more={"min_member": 1})

    def set_args(self, args: ScenarioArgs) -> lws.LeaderWorkerSetArgs:
        """The set, whose workers wait for their leader."""
        return dataclasses.replace(super().set_args(args), startup_policy="LeaderReady")
