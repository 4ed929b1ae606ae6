"""What LeaderReady guarantees: the leader first, its workers as there is room, and no gang."""

from lockstep.judge import drill_marks, explain, limits
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, incarnations
from lockstep.judge.history import PodHistory, bind_times
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule
from lockstep.scenarios.verdicts import VerdictName


@drill_rule(Topic.ROOM_FOR_A_PART)
def leader_first(case: Case, phases: list[Phase]) -> Finding:
    """Find `leader-first`: partly bound without room for all pods, complete with it."""
    tight = phases[0]
    roomy = drill_marks.phases(case.history, (Topic.ROOM_FOR_ALL,))
    gang = case.wanted[0]
    new = [one for one in incarnations(gang) if one.began > tight.start]
    if not new:
        return fail(VerdictName.LOST, f"{gang.key} was not recreated")
    group = new[-1]
    if problem := _problem(group, tight):
        return problem
    if not roomy or group.completed_at is None or not group.was_complete_at(roomy[0].end):
        what = f"{group.key} did not become complete when there was room"
        return fail(VerdictName.PARTIAL, what)
    return _finding(group, tight, roomy[0])


def _problem(group: Incarnation, tight: Phase) -> Finding | None:
    """Find a stronger or a weaker guarantee than the leader first."""
    bound = _bound_at(group, tight.end)
    if not bound:
        what = f"0 of {group.size} pods of {group.key} were bound without room for all"
        return fail(VerdictName.HELD, what)
    if group.leader not in bound:
        what = f"{explain.names(bound)} bound, but not the leader {group.leader.name}"
        return fail(VerdictName.PARTIAL, what)
    ready = _ready_at(group.leader)
    early = [pod for pod in group.workers if ready is None or pod.first.at < ready]
    if early:
        what = f"{explain.names(early)} was created before the leader was ready"
        return fail(VerdictName.PARTIAL, what)
    others = [pod.bound.earliest for pod in group.pods if pod.bound and pod not in bound]
    lasted = min([tight.end, *others]) - max(bind_times(bound))
    if len(bound) == group.size or lasted < limits.STABLE:
        what = f"{len(bound)} of {group.size} pods of {group.key} bound: not a lasting part"
        return fail(VerdictName.PLACED, what)
    ignored = [pod for pod in group.pods if pod not in bound and not _last_refusal(pod)]
    if ignored:
        return fail(VerdictName.IGNORED, f"{explain.names(ignored)} was not refused")
    return None


def _finding(group: Incarnation, tight: Phase, roomy: Phase) -> Finding:
    bound = _bound_at(group, tight.end)
    waiting = [pod for pod in group.pods if pod not in bound]
    since = min(bind_times(bound))
    partly = roomy.start - since
    release = (group.completed_at or roomy.end) - roomy.start
    workers_after = min(pod.first.at for pod in group.workers) - since
    return Finding(
        VerdictName.LEADER_FIRST,
        f"no all-or-nothing with LeaderReady: with room for a part, {len(bound)} of {group.size} "
        f"pods were bound, the leader first, and stayed so for {partly:.1f} s",
        (
            f"{tight}: {explain.names(bound)} bound for "
            f"{partly:.1f} s, {explain.names(waiting)} refused: {_last_refusal(waiting[0])}",
            f"{group.leader.name} was bound alone, as minMember is 1; its workers were created "
            f"when it was ready, {workers_after:.1f} s later",
            f"{roomy}: complete {release:.1f} s later",
        ),
        measures={
            "boundWithoutRoom": len(bound),
            "partialSeconds": partly,
            "releaseSeconds": release,
        },
    )


def _last_refusal(pod: PodHistory) -> str:
    messages = [str(seen.facts.get("unschedulable") or "") for seen in pod.observations]
    return next((message for message in reversed(messages) if message), "")


def _bound_at(group: Incarnation, at: float) -> list[PodHistory]:
    return [pod for pod in group.pods if pod.bound and pod.bound.at <= at]


def _ready_at(pod: PodHistory) -> float | None:
    return next((seen.at for seen in pod.observations if seen.facts.get("ready")), None)
