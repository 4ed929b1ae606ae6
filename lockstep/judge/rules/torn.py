"""The broken invariant: a gang that was partly bound for longer than one bind burst."""

import math
from collections.abc import Iterable

from lockstep.judge import explain
from lockstep.judge.case import Case, fail
from lockstep.judge.groups import PartlyBound, binding_bursts, partly_bound
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName


def torn(case: Case) -> Finding | RecheckAt | None:
    """Find a gang that was partly bound at any time: `partial` if it still is, else `torn`."""
    if not case.expectation.gang:
        return None  # pods of no gang may be bound one by one
    return _too_long(case, partly_bound(case.history, case.gangs))


def torn_while_binding(case: Case) -> Finding | RecheckAt | None:
    """Find a gang, also of the rival, that was partly bound when it started.

    For gangs that come and go: a gang that ends loses its pods one after the other.
    """
    return _too_long(case, binding_bursts(case.history, [*case.gangs, *case.rivals]))


def _too_long(case: Case, stretches: Iterable[PartlyBound]) -> Finding | RecheckAt | None:
    soonest: RecheckAt | None = None
    for stretch in stretches:
        if stretch.is_too_long:
            return _finding(case, stretch)
        if stretch.interval.open:
            # Slightly later than the limit, so that the next look is past it.
            at = stretch.interval.start + stretch.limit + 0.001
            soonest = RecheckAt(min(at, soonest.at) if soonest else at)
    return soonest


def _finding(case: Case, stretch: PartlyBound) -> Finding:
    gang, interval, bound = stretch.gang, stretch.interval, stretch.bound
    others = [pod for pod in stretch.pods if pod not in bound and pod.alive]
    left = [pod for pod in stretch.pods if pod.ends == interval.start]
    what = f"{len(bound)} of {stretch.size} pods of {gang.key} bound for {interval.at_least:.1f} s"
    if interval.start_late == math.inf:
        what += ", and already when the recording began"
    if left:
        what += f" after {explain.names(left)} terminated"
    until = "the end" if interval.open else f"{interval.end:.3f} s"
    clues = explain.clues(case.history, gang)
    evidence = (
        f"{gang.key} was partly bound from {interval.start:.3f} s to {until}",
        f"bound: {explain.names(bound)}",
        f"not bound: {explain.names(others) or 'pods that do not exist'}",
        *clues,
    )
    name = VerdictName.PARTIAL if interval.open else VerdictName.TORN
    return fail(name, what, *clues, evidence=evidence)
