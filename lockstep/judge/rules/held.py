"""Every gang refused whole, cycle after cycle, by a scheduler that is at work."""

from __future__ import annotations

from lockstep.judge import clues, podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import Gang
from lockstep.judge.model import Finding, RecheckAt


def held(case: Case) -> Finding | RecheckAt | None:
    """Find `held`; when something else was expected, only after some patience."""
    if any(len(gang.alive) != gang.size or gang.bound for gang in case.gangs):
        return None
    since = case.history.last_change()
    if case.expectation.verdict != "held" and case.end - since < case.limits.patience:
        return RecheckAt(since + case.limits.patience)
    evidence = [f"0 of {case.expectation.pods} pods bound in {case.end:.1f} s"]
    for gang in case.gangs:
        shown = _refused(case, gang, since)
        if not isinstance(shown, str):
            return shown
        evidence.append(shown)
    if problems := clues.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(evidence), valid=False)
    return Finding("held", "; ".join(evidence[:2]), tuple(evidence))


def _refused(case: Case, gang: Gang, since: float) -> str | RecheckAt | None:
    """Show that the scheduler refused a gang several times since the last change."""
    history, limits = case.history, case.limits
    group = podgroups.of(history, gang)
    if group is None:
        return None
    message = podgroups.last_refusal(history, group)
    cycles = podgroups.refusals(history, group, gang.size, since)
    if cycles >= limits.cycles:
        return f"PodGroup {group.name} was Unschedulable in {cycles} scheduling cycles: {message}"
    if not podgroups.refusals_ran_out(history, group):
        return None
    quiet = max(since, group.first.at) + limits.stable
    if case.end < quiet:
        return RecheckAt(quiet)
    return f"PodGroup {group.name} stayed Unschedulable, as many cycles before: {message}"
