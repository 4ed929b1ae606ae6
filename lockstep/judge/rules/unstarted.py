"""A drill that never began, because the workload was not what it starts from."""

from __future__ import annotations

from lockstep.judge import podgroups
from lockstep.judge.case import Case
from lockstep.judge.model import Finding


def unstarted(case: Case) -> Finding | None:
    """Find what is wrong with a workload that runs; None leaves it to the general conclusion."""
    problems = podgroups.problems(case)
    if not problems or not all(gang.complete for gang in case.wanted):
        return None
    return Finding("unmanaged", "; ".join(problems), tuple(problems), valid=False)
