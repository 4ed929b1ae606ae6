"""As many groups as requested, each complete, and exactly their PodGroups."""

from lockstep.judge import figures
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, complete_at, wrong_pod_groups
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule, slow_binding
from lockstep.scenarios.verdicts import VerdictName


@drill_rule(Topic.SCALE)
def scaled(case: Case, phases: list[Phase]) -> Finding:
    """Find `scaled`, or the first step after which the groups were not as requested."""
    evidence: list[str] = []
    measures: dict[str, float] = {}
    for phase in phases:
        wanted = int(phase.text)
        complete = complete_at(case.gangs, phase.end)
        if problem := _problem(case, phase, wanted, complete):
            what = f"scaled to {wanted}: {problem}"
            return fail(VerdictName.STRAYED, what, evidence=(*evidence, what))
        seconds = _settled_at(case, phase, complete) - phase.start
        measures[f"scaleTo{wanted}Seconds"] = seconds
        names = ", ".join(sorted(group.key for group in complete))
        evidence.append(
            f"{wanted} requested: after {seconds:.1f} s {names} complete, each with a PodGroup of "
            "its leader, and no other PodGroup"
        )
    steps = " → ".join(phase.text for phase in phases)
    skew = figures.longest_binding(case.gangs, case.end)
    return Finding(
        VerdictName.SCALED,
        f"groups {steps}, PodGroups followed exactly",
        (*evidence, f"no group was partly bound for longer than {skew:.3f} s"),
        measures=measures,
        bind_skew=skew,
    )


def _problem(case: Case, phase: Phase, wanted: int, complete: list[Incarnation]) -> str:
    """What is wrong at the end of a step, as a clause; empty if nothing is."""
    if len(complete) != wanted:
        return f"{len(complete)} complete groups"
    if slow := slow_binding(case):
        return slow
    pods = sum(
        1 for gang in case.gangs for pod in gang.pods if pod.first.at <= phase.end < pod.ends
    )
    if pods != wanted * case.expectation.size:
        return f"{pods} pods, not {wanted} x {case.expectation.size}"
    return "; ".join(wrong_pod_groups(case.history, complete, phase.end))


def _settled_at(case: Case, phase: Phase, complete: list[Incarnation]) -> float:
    """When the last requested group was complete and everything else was deleted."""
    times = [group.completed_at for group in complete if group.completed_at]
    times += [
        one.last.at
        for one in [*case.history.all("pod"), *case.history.all("podgroup")]
        if one.deleted and one.last.at <= phase.end
    ]
    return max([phase.start, *times])
