"""A set that grows and shrinks: PodGroups must follow."""

from __future__ import annotations

import dataclasses

from lockstep.scenarios.registry import SCALE_STEPS

from .base import Plan, ScenarioArgs
from .gang import Gang


class Scale(Gang):
    """A set that is scaled by the drill, as an autoscaler would; expects `scaled`.

    It is made with the last number of groups that the drill asks for: so Pulumi and the cluster
    agree before and after.
    """

    scenario = "scale"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A set as in `gang`, and what is done to it."""
        args = dataclasses.replace(args, groups=SCALE_STEPS[-1])
        plan = self.gang_plan(name, args, verdict="scaled", blocked=None)
        return dataclasses.replace(plan, drill="scale")
