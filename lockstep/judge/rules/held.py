"""Every gang refused as a whole, cycle after cycle, by a scheduler that works."""

from lockstep.judge import explain, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import ObservedGang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName


def held(case: Case) -> Finding | RecheckAt | None:
    """Find `held`; when something else was expected, only after a longer time."""
    if any(len(gang.alive) != gang.size or gang.bound for gang in case.gangs):
        return None
    since = case.history.last_change()
    is_expected = case.expectation.verdict == VerdictName.HELD
    if not is_expected and case.end - since < limits.PATIENCE:
        return RecheckAt(since + limits.PATIENCE)
    evidence = [f"0 of {case.expectation.pods} pods bound in {case.end:.1f} s"]
    for gang in case.gangs:
        shown = refusal_of(case, gang, since)
        if not isinstance(shown, str):
            return shown
        evidence.append(shown)
    if problems := explain.problems(case):
        return fail(VerdictName.MISMATCHED, *problems, evidence=tuple(evidence))
    return Finding(VerdictName.HELD, "; ".join(evidence[:2]), tuple(evidence))


def refusal_of(case: Case, gang: ObservedGang, since: float) -> str | RecheckAt | None:
    """How the scheduler refused a gang several times since the last change, in words."""
    history = case.history
    group = podgroups.of(history, gang)
    if group is None:
        return None
    message = podgroups.last_refusal(history, group)
    cycles = podgroups.refused_cycles(history, group, gang.size, since)
    if cycles >= limits.CYCLES:
        return f"PodGroup {group.name} was Unschedulable in {cycles} scheduling cycles: {message}"
    if not podgroups.refusals_ran_out(history, group):
        return None
    quiet = max(since, group.first.at) + limits.STABLE
    if case.end < quiet:
        return RecheckAt(quiet)
    return f"PodGroup {group.name} stayed Unschedulable after many earlier cycles: {message}"
