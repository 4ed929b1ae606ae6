"""The invariant where gangs come and go: each is bound in one burst, or not at all.

Unlike `torn`, this leaves out how a gang ends: whoever ends one takes its pods away one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import clues
from lockstep.judge import groups as generations
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.history import Gang, Interval
from lockstep.judge.model import Finding, RecheckAt


def slow(case: Case, gangs: Sequence[Gang] | None = None) -> Finding | RecheckAt | None:
    """Find the first gang that was bound in part for longer: `partial` if it still is."""
    soonest: RecheckAt | None = None
    for gang in case.gangs if gangs is None else gangs:
        for life in generations.of(gang):
            burst = life.binding(case.end)
            if burst is None:
                continue
            unseen = sum(burst.overlap(cut) for cut in case.history.cuts)
            length = burst.end - burst.start - unseen
            if length > case.limits.burst:
                return _finding(case, gang, life, burst, length)
            if burst.open:
                # A hair later than the limit, so that the next look is past it.
                at = case.end + case.limits.burst - length + 0.001
                soonest = RecheckAt(min(at, soonest.at) if soonest else at)
    return soonest


def _finding(case: Case, gang: Gang, life: Generation, burst: Interval, length: float) -> Finding:
    bound = [pod for pod in life.pods if pod.bound and pod.bound.at < burst.end]
    found = clues.about(case.history, gang)
    what = f"{len(bound)} of {life.size} pods of {life.key} bound for {length:.1f} s"
    until = "the end" if burst.open else f"{burst.end:.3f} s"
    evidence = (
        f"{life.key} was partly bound from {burst.start:.3f} s to {until}",
        f"bound: {clues.names(bound)}",
        *found,
    )
    name = "partial" if burst.open else "torn"
    return Finding(name, "; ".join([what, *found]), evidence, valid=False)
