"""Some pods bound and all others refused: what happens when nothing holds a gang together."""

from __future__ import annotations

from lockstep.judge import clues, podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import Gang
from lockstep.judge.model import Finding, RecheckAt


def partial(case: Case) -> Finding | RecheckAt | None:
    """Find `partial`, once it has lasted for longer than a bind burst."""
    for gang in case.wanted:
        if not _stuck(gang):
            return None
        lasting = max(pod.bound.at for pod in gang.bound if pod.bound) + case.limits.stable
        if case.end < lasting:
            return RecheckAt(lasting)
    gang = case.wanted[0]
    refused = [pod for pod in gang.alive if not pod.bound]
    evidence = (
        f"bound: {clues.names(gang.bound)}",
        f"refused: {clues.names(refused)}",
        f"because: {refused[0].last.facts['unschedulable']}",
    )
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), evidence, valid=False)
    what = f"{len(gang.bound)} of {gang.size} pods of {gang.key} bound, the others refused"
    return Finding("partial", what, evidence)


def _stuck(gang: Gang) -> bool:
    """Whether all pods are there, some are bound, and a scheduler has refused all others."""
    waiting = [pod for pod in gang.alive if not pod.bound]
    return (
        len(gang.alive) == gang.size
        and 0 < len(waiting) < gang.size
        and all(pod.last.facts.get("unschedulable") for pod in waiting)
    )
