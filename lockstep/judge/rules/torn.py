"""The broken invariant: a gang that was partly bound for longer than one bind burst."""

from __future__ import annotations

from lockstep.judge import clues
from lockstep.judge.case import Case
from lockstep.judge.history import Gang, History, Interval
from lockstep.judge.model import Finding, RecheckAt


def torn(case: Case) -> Finding | RecheckAt | None:
    """Find the first such stretch: still open it is `partial`, over it is `torn`."""
    if not case.expectation.gang:
        return None  # pods that nothing holds together may come one by one
    soonest: RecheckAt | None = None
    for gang in case.gangs:
        for interval in gang.partly_bound(case.end):
            length = watched(interval, case.history)
            if length > case.limits.burst:
                return _finding(case.history, gang, interval, length)
            if interval.open:
                # A hair later than the limit, so that the next look is past it.
                at = case.end + case.limits.burst - length + 0.001
                soonest = RecheckAt(min(at, soonest.at) if soonest else at)
    return soonest


def watched(interval: Interval, history: History) -> float:
    """Measure an interval without the time in which the watch was cut: nobody saw that."""
    return interval.end - interval.start - sum(interval.overlap(cut) for cut in history.cuts)


def _finding(history: History, gang: Gang, interval: Interval, length: float) -> Finding:
    then = [p for p in gang.pods if p.bound and p.bound.at <= interval.start]
    bound = [p for p in then if not p.leaving or p.leaving.at > interval.start]
    if interval.open:
        bound = gang.bound
    others = [p for p in gang.alive if p not in bound]
    left = [p for p in gang.pods if p.leaving and p.leaving.at == interval.start]
    what = f"{len(bound)} of {gang.size} pods of {gang.key} bound for {length:.1f} s"
    if left:
        what += f" after {clues.names(left)} went"
    until = "the end" if interval.open else f"{interval.end:.3f} s"
    found = clues.about(history, gang)
    evidence = (
        f"{gang.key} was partly bound from {interval.start:.3f} s to {until}",
        f"bound: {clues.names(bound)}",
        f"not bound: {clues.names(others) or 'pods that were not there'}",
        *found,
    )
    name = "partial" if interval.open else "torn"
    return Finding(name, "; ".join([what, *found]), evidence, valid=False)
