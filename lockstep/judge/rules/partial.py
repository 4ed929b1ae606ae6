"""Some pods bound and all others refused: what happens without gang scheduling."""

from __future__ import annotations

from lockstep.judge import explain, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import ObservedGang, bind_times, is_refused
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName


def partial(case: Case) -> Finding | RecheckAt | None:
    """Find `partial`, once it has lasted for longer than a bind burst."""
    for gang in case.wanted:
        if not _is_stuck(gang):
            return None
        lasting = max(bind_times(gang.bound)) + case.limits.stable
        if case.end < lasting:
            return RecheckAt(lasting)
    gang = case.wanted[0]
    refused = gang.waiting
    evidence = (
        f"bound: {explain.names(gang.bound)}",
        f"refused: {explain.names(refused)}",
        f"because: {refused[0].last.facts['unschedulable']}",
    )
    if problems := podgroups.problems(case):
        return fail(VerdictName.MISMATCHED, *problems, evidence=evidence)
    what = f"{len(gang.bound)} of {gang.size} pods of {gang.key} bound, the others refused"
    return Finding(VerdictName.PARTIAL, what, evidence)


def _is_stuck(gang: ObservedGang) -> bool:
    """Whether all pods exist, some are bound, and the scheduler has refused all others."""
    waiting = gang.waiting
    return len(gang.alive) == gang.size and 0 < len(waiting) < gang.size and is_refused(waiting)
