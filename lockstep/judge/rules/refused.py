"""Without permission to create PodGroups LWS starts nothing, says why, and recovers."""

from lockstep.judge import explain
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, all_incarnations, pod_group_of
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule
from lockstep.recording.model import Mark
from lockstep.scenarios.verdicts import VerdictName


@drill_rule(Topic.RIGHTS_TAKEN)
def refused(case: Case, _phases: list[Phase]) -> Finding:
    """Find `refused`: the error of LWS, and the group that was created afterwards."""
    marks = {mark.topic: mark for mark in case.history.recording.marks}
    taken = marks[Topic.RIGHTS_TAKEN]
    back = marks.get(Topic.RIGHTS_BACK)
    until = back.at if back else case.end
    groups = all_incarnations(case.wanted)
    created = [one for one in groups if taken.at < one.began <= until]
    if not created:
        what = f"LWS created no new leader within {until - taken.at:.1f} s"
        return fail(VerdictName.LOST, what)
    for one in created:
        if problem := _problem(case, one, marks, until):
            return problem
    group = created[-1]
    if back is None or not group.is_complete:
        what = f"{group.key} did not become complete when LWS had its permission back"
        return fail(VerdictName.STUCK, what)
    return _finding(case, group, back, marks[Topic.LWS_ERROR])


def _problem(
    case: Case, group: Incarnation, marks: dict[str, Mark], until: float
) -> Finding | None:
    """Find what should not have started, or an error that LWS did not report."""
    owned = pod_group_of(case.history, group, until)
    if owned is not None:
        what = f"LWS created PodGroup {owned.name} without the permission that was removed"
        return fail(VerdictName.ALLOWED, what)
    bound = [pod for pod in group.pods if pod.bound and pod.bound.at <= until]
    if bound:
        return fail(VerdictName.UNMANAGED, f"{explain.names(bound)} bound without a PodGroup")
    if Topic.LWS_ERROR not in marks:
        return fail(VerdictName.SILENT, "LWS did not report why it creates no PodGroup")
    return None


def _finding(case: Case, group: Incarnation, back: Mark, error: Mark) -> Finding:
    away = back.at - group.began
    took = (group.completed_at or case.end) - back.at
    workers = [pod for pod in group.workers if pod.first.at <= back.at]
    return Finding(
        VerdictName.REFUSED,
        f"without permission to create PodGroups nothing started in {away:.1f} s; with it, the "
        f"group was complete {took:.1f} s later",
        (
            f"LWS: {error.text}",
            f"{group.leader.name} waited {away:.1f} s, not bound, without a PodGroup and with "
            f"{len(workers)} workers",
            f"rights back: {group.key} complete after {took:.1f} s, under a PodGroup of its leader",
        ),
        measures={"refusedSeconds": away, "recoverySeconds": took},
    )
