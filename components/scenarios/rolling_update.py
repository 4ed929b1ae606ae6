"""A new template under tight capacity: whole groups are replaced by whole groups."""

from __future__ import annotations

import dataclasses

from lockstep.scenarios import pool as room

from .base import Plan, ScenarioArgs
from .gang import Gang


class RollingUpdate(Gang):
    """A set on exactly the workers that it fills; expects `rolled`, without and with surge.

    The other workers of the pool are blocked, until the drill frees them for the extra group.
    """

    scenario = "rolling-update"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A set as in `gang`, no room beside it, and what is done to it."""
        spare = len(args.pool.workers) - room.workers_for(args.size * args.groups)
        plan = self.gang_plan(name, args, verdict="rolled", blocked=spare)
        return dataclasses.replace(plan, drill="rolling-update")
