"""A rolling update that replaces complete groups by complete groups, and leaves no PodGroup."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.judge import figures
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, complete_at, wrong_pod_groups
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule, slow_binding
from lockstep.scenarios.verdicts import VerdictName

_MEASURES = {
    Topic.UPDATE_WITHOUT_SURGE: ("updateSeconds", "groupsUp"),
    Topic.UPDATE_WITH_SURGE: ("surgeSeconds", "groupsUpWithSurge"),
}


@dataclass(frozen=True)
class Update:
    """One rolling update, from the change of the template to the last new group."""

    phase: Phase
    seconds: float
    least: int
    """The smallest number of complete groups during the update."""
    most: int
    """The largest number of groups with a bound pod during the update."""

    def __str__(self) -> str:
        return (
            f"{self.phase.mark.topic} ({self.phase.mark.text}): done in {self.seconds:.1f} s, "
            f"never fewer than {self.least} complete groups, never more than {self.most} bound"
        )


@drill_rule(Topic.UPDATE_WITHOUT_SURGE, Topic.UPDATE_WITH_SURGE)
def rolled(case: Case, phases: list[Phase]) -> Finding:
    """Find `rolled`, or the first update that did not replace complete groups."""
    updates: list[Update] = []
    for phase in phases:
        answer = _update(case, phase)
        if isinstance(answer, str):
            what = f"{phase.mark.topic}: {answer}"
            evidence = (*map(str, updates), what)
            return fail(VerdictName.STRAYED, what, evidence=evidence)
        updates.append(answer)
    return _finding(case, updates)


def _finding(case: Case, updates: list[Update]) -> Finding:
    skew = figures.longest_binding(case.incarnations, case.end)
    measures: dict[str, float] = {}
    for update in updates:
        seconds, groups = _MEASURES[Topic(update.phase.mark.topic)]
        measures |= {seconds: update.seconds, groups: update.least}
    partial = f"no group of either revision was partly bound for longer than {skew:.3f} s"
    return Finding(
        VerdictName.ROLLED,
        f"{len(updates)} rolling updates of {case.expectation.groups} groups, each group "
        "replaced completely",
        (*map(str, updates), partial, "no PodGroup was left over"),
        measures=measures,
        bind_skew=skew,
    )


def _update(case: Case, phase: Phase) -> Update | str:
    """Follow one update; return what is wrong with it as a clause."""
    groups, everything = case.expectation.groups, case.incarnations
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
    if extra and phase.mark.topic == Topic.UPDATE_WITHOUT_SURGE:
        return f"{extra[0].key} was created, although maxSurge is 0"
    done = max(one.completed_at or phase.end for one in new)
    times = [phase.start, *_times_of_changes(everything, phase.start, done)]
    return Update(
        phase,
        done - phase.start,
        least=min(len(complete_at(case.gangs, at)) for at in times),
        most=max(sum(1 for one in everything if _is_bound(one, at)) for at in times),
    )


def _revisions(group: Incarnation) -> set[str | None]:
    return {pod.first.facts.get("revision") for pod in group.bound_pods}


def _times_of_changes(groups: list[Incarnation], start: float, end: float) -> list[float]:
    """The times at which a pod began to run, was bound or terminated."""
    pods = [pod for group in groups for pod in group.pods]
    seen = [one for pod in pods for one in (pod.running, pod.bound, pod.terminating) if one]
    return sorted({one.at for one in seen if start < one.at <= end})


def _is_bound(group: Incarnation, at: float) -> bool:
    return any(pod.bound and pod.bound.at <= at < pod.ends for pod in group.pods)
