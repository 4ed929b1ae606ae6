"""LWS without the right to make PodGroups: nothing starts, and it says why."""

from __future__ import annotations

import dataclasses

from .base import Plan, ScenarioArgs
from .gang import Gang


class MissingRbac(Gang):
    """A set whose group is made anew while the right is away; expects `refused`.

    The right is LWS's, for all namespaces: no other scenario may run beside this one.
    """

    scenario = "missing-rbac"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A set as in `gang`, and what is done to LWS."""
        plan = self.gang_plan(name, args, verdict="refused", blocked=None)
        return dataclasses.replace(plan, drill="missing-rbac")
