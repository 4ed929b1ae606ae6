"""A rolling update that replaces complete groups by complete groups, and leaves no PodGroup."""

from lockstep.judge import figures
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, all_incarnations, complete_at, wrong_pod_groups
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule, slow_binding
from lockstep.scenarios.verdicts import VerdictName

_MEASURES = {
    Topic.UPDATE_WITHOUT_SURGE: ("updateSeconds", "groupsUp"),
    Topic.UPDATE_WITH_SURGE: ("surgeSeconds", "groupsUpWithSurge"),
}


@drill_rule(Topic.UPDATE_WITHOUT_SURGE, Topic.UPDATE_WITH_SURGE)
def rolled(case: Case, phases: list[Phase]) -> Finding:
    """Find `rolled`, or the first update that did not replace complete groups."""
    evidence: list[str] = []
    measures: dict[str, float] = {}
    for phase in phases:
        answer = _update(case, phase)
        if isinstance(answer, str):
            what = f"{phase.topic}: {answer}"
            return fail(VerdictName.STRAYED, what, evidence=(*evidence, what))
        seconds, least, most = answer
        evidence.append(
            f"{phase}: done in {seconds:.1f} s, never fewer than {least} complete groups, "
            f"never more than {most} bound"
        )
        measures |= zip(_MEASURES[Topic(phase.topic)], (seconds, least), strict=True)
    skew = figures.longest_binding(case.gangs, case.end)
    partial = f"no group of either revision was partly bound for longer than {skew:.3f} s"
    return Finding(
        VerdictName.ROLLED,
        f"{len(phases)} rolling updates of {case.expectation.groups} groups, each group "
        "replaced completely",
        (*evidence, partial, "no PodGroup was left over"),
        measures=measures,
        bind_skew=skew,
    )


def _update(case: Case, phase: Phase) -> tuple[float, int, int] | str:
    """Follow one update: its seconds, the fewest complete groups, the most groups with a bound pod.

    A clause that says what is wrong with it, if anything is.
    """
    groups, everything = case.expectation.groups, all_incarnations(case.gangs)
    if mixed := [one.key for one in everything if len(_revisions(one)) > 1]:
        return f"{mixed[0]} had pods of two revisions"
    if slow := slow_binding(case):
        return slow
    complete = complete_at(case.gangs, phase.end)
    new = [one for one in complete if one.began > phase.start]
    if len(new) != groups or len(complete) != groups:
        return f"{len(new)} of {groups} groups are new and complete, of {len(complete)} in all"
    if len({one.revision for one in new}) > 1:
        return "the new groups are of different revisions"
    if wrong := wrong_pod_groups(case.history, complete, phase.end):
        return "; ".join(wrong)
    wanted = {gang.key for gang in case.wanted}
    extra = [
        one for one in everything if one.key not in wanted and phase.start < one.began <= phase.end
    ]
    if extra and phase.topic == Topic.UPDATE_WITHOUT_SURGE:
        return f"{extra[0].key} was created, although maxSurge is 0"
    done = max(one.completed_at or phase.end for one in new)
    times = [phase.start, *_times_of_changes(everything, phase.start, done)]
    least = min(len(complete_at(case.gangs, at)) for at in times)
    most = max(sum(1 for one in everything if _is_bound(one, at)) for at in times)
    return done - phase.start, least, most


def _revisions(group: Incarnation) -> set[str | None]:
    return {pod.first.facts.get("revision") for pod in group.bound_pods}


def _times_of_changes(groups: list[Incarnation], start: float, end: float) -> list[float]:
    """The times at which a pod began to run, was bound or terminated."""
    pods = [pod for group in groups for pod in group.pods]
    seen = [one for pod in pods for one in (pod.running, pod.bound, pod.terminating) if one]
    return sorted({one.at for one in seen if start < one.at <= end})


def _is_bound(group: Incarnation, at: float) -> bool:
    return any(pod.bound and pod.bound.at <= at < pod.ends for pod in group.pods)
