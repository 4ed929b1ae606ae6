"""Some pods bound and all others refused: what happens without gang scheduling."""

from lockstep.judge import explain, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import bind_times, is_split
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName


def partial(case: Case) -> Finding | RecheckAt | None:
    """Find `partial`, once it has lasted for longer than a bind burst."""
    for gang in case.wanted:
        if not is_split(gang.pods, gang.size):
            return None
        lasting = max(bind_times(gang.bound)) + limits.STABLE
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
