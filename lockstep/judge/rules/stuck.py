"""Without gang scheduling: some pods are bound, all others are refused, and it stays so."""

from __future__ import annotations

from dataclasses import replace

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import bind_times, is_split
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName

_SEVERAL = 2


def partial(case: Case) -> Finding | RecheckAt | None:
    """Find `partial`, once it has lasted for longer than a bind burst."""
    if not all(is_split(gang.pods, gang.size) for gang in case.wanted):
        return None
    gang = case.wanted[0]
    what = f"{len(gang.bound)} of {gang.size} pods of {gang.key} bound, the others refused"
    return _lasting(
        case, Finding(VerdictName.PARTIAL, what, (f"bound: {explain.names(gang.bound)}",))
    )


def deadlocked(case: Case) -> Finding | RecheckAt | None:
    """Find `deadlocked`: several gangs partly bound, none completely, and no further binds."""
    gangs = case.wanted
    runs = figures.runs(case.history, gangs)
    measures = figures.crowd_figures(case.history, gangs, runs)
    if runs:
        ran = ", ".join(dict.fromkeys(run.key for run in runs))
        return Finding(VerdictName.PROGRESSED, f"{ran} was completely bound", measures=measures)
    holders = sum(1 for gang in gangs if gang.bound)
    every_pod = [pod for gang in gangs for pod in gang.pods]
    if (
        holders < _SEVERAL
        or any(len(gang.alive) != gang.size for gang in gangs)
        or not is_split(every_pod, case.expectation.pods)
    ):
        return None
    times = bind_times(pod for gang in gangs for pod in gang.bound)
    what = (
        f"{holders} gangs hold {len(times)} places and none of them is complete: "
        f"{measures['podSecondsWasted']:.1f} pod-seconds wasted in {case.end - min(times):.1f} s"
    )
    shares = tuple(
        f"{gang.key}: {len(gang.bound)} of {gang.size} pods bound"
        + (f" ({explain.names(gang.bound)})" if gang.bound else "")
        for gang in gangs
    )
    return _lasting(case, Finding(VerdictName.DEADLOCKED, what, shares, measures=measures))


def _lasting(case: Case, finding: Finding) -> Finding | RecheckAt:
    """The finding, with who was refused and why, once no pod was bound for a while."""
    lasting = max(bind_times(pod for gang in case.wanted for pod in gang.bound)) + limits.STABLE
    if case.end < lasting:
        return RecheckAt(lasting)
    refused = [pod for gang in case.wanted for pod in gang.waiting]
    evidence = (
        *finding.evidence,
        f"refused: {explain.names(refused)}",
        f"because: {refused[0].last.facts['unschedulable']}",
    )
    if problems := podgroups.problems(case):
        return fail(VerdictName.MISMATCHED, *problems, evidence=evidence)
    return replace(finding, evidence=evidence)
