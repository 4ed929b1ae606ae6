"""A gang that does not fit: none of its pods start, until a worker is freed."""

from __future__ import annotations

import pulumi

from .. import pools
from .base import Plan, ScenarioArgs
from .gang import Gang


class Constrained(Gang):
    """The same set on a pool with blocked workers.

    Expects `held` while no gang fits the free workers, and `released` once all do: that is what a
    smaller number of blocked workers shows.
    """

    scenario = "constrained"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Derive the verdict from the room that is left."""
        verdict = expected(len(args.pool.workers), args.blocked, args.size, args.groups)
        return self.gang_plan(name, args, verdict=verdict, blocked=args.blocked)


def expected(workers: int, blocked: int, size: int, groups: int) -> str:
    """Say what becomes of the gangs; some held and some not would be neither."""
    room = pools.capacity(workers, blocked)
    if room < size:
        return "held"
    if room < size * groups:
        raise pulumi.RunError(
            f"constrained: the {workers - blocked} free workers take {room // size} of {groups} "
            "gangs, which is neither held nor released; block fewer workers, or more"
        )
    return "released"
