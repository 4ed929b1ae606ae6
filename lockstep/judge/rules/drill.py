"""The frame of every rule that judges a drill."""

from collections.abc import Callable

from lockstep.judge import drill_marks, podgroups
from lockstep.judge.case import Case, Rule, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import binding_bursts
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName

Check = Callable[[Case, list[Phase]], Finding]
"""Judges the phases of a drill that has ended."""


def drill_rule(*topics: Topic) -> Callable[[Check], Rule]:
    """Make a rule of a check of the phases of some topics.

    The rule waits for the end of the drill. It finds what kept the drill from starting, the
    finding of the check, or what is wrong with the PodGroups in the end.
    """

    def decorate(check: Check) -> Rule:
        def rule(case: Case) -> Finding | RecheckAt | None:
            over = drill_marks.over_at(case.history)
            if not case.final and (over is None or case.end < over):
                return None if over is None else RecheckAt(over)
            phases = drill_marks.phases(case.history, topics)
            if not phases:
                return _unstarted(case)
            finding = check(case, phases)
            if finding.valid and (problems := podgroups.problems(case)):
                return fail(VerdictName.MISMATCHED, *problems)
            return finding

        return rule

    return decorate


def _unstarted(case: Case) -> Finding | None:
    """Find why a drill did not start although the pods run; None: the final state tells why."""
    problems = podgroups.problems(case)
    if not problems or not all(gang.is_complete for gang in case.wanted):
        return None
    return fail(VerdictName.UNMANAGED, *problems)


def slow_binding(case: Case) -> str:
    """The first gang that was partly bound for longer than one bind burst, as a clause."""
    for stretch in binding_bursts(case.history, case.gangs):
        if stretch.is_too_long:
            return f"{stretch.gang.key} was partly bound for {stretch.interval.at_least:.1f} s"
    return ""
