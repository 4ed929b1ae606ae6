"""A gang that loses its leader, a worker, a node: it must come back whole each time."""

from __future__ import annotations

import dataclasses

from .base import Plan, ScenarioArgs
from .gang import Gang


class Recovery(Gang):
    """A set on a pool with a worker to spare; expects every group `recreated`.

    The drill takes a node away by a taint of its own, so the pool's taints are ours to clear.
    """

    scenario = "recovery"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A set as in `gang`, and what is done to it."""
        plan = self.gang_plan(name, args, verdict="recreated", blocked=0)
        return dataclasses.replace(plan, drill="recovery")
