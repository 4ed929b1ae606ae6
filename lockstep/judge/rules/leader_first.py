"""What LeaderReady guarantees: the leader first, its workers as there is room, and no gang."""

from __future__ import annotations

from lockstep.judge import clues, notes, podgroups
from lockstep.judge import groups as generations
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.history import Pod
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.notes import Phase
from lockstep.judge.rules.unstarted import unstarted

PART, ALL = "room for a part", "room for all"


def leader_first(case: Case) -> Finding | RecheckAt | None:
    """Find `leader-first` once the drill is over: bound in part without room, whole with it."""
    if not (notes.is_over(case.history) or case.final):
        return None
    tight = notes.phases(case.history, (PART,))
    roomy = notes.phases(case.history, (ALL,))
    if not tight:
        return unstarted(case)
    lives = [life for life in generations.of(case.wanted[0]) if life.began > tight[0].note.at]
    if not lives:
        what = f"{case.wanted[0].key} was not made anew"
        return Finding("lost", what, (what,), valid=False)
    group = lives[-1]
    if problem := _problem(case, group, tight[0]):
        return problem
    if not roomy or group.whole_at is None or not group.whole_until(roomy[0].end):
        what = f"{group.key} did not become whole when there was room"
        return Finding("partial", what, (what,), valid=False)
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(problems), valid=False)
    return _finding(group, tight[0], roomy[0])


def _problem(case: Case, group: Generation, tight: Phase) -> Finding | None:
    """Find what would be a stronger guarantee, or a weaker one, than the leader first."""
    bound = _bound(group, tight.end)
    if not bound:
        what = f"0 of {group.size} pods of {group.key} were bound without room for all"
        return Finding("held", what, (what,), valid=False)
    if group.leader not in bound:
        what = f"{clues.names(bound)} bound, but not the leader {group.leader.name}"
        return Finding("partial", what, (what,), valid=False)
    ready = _ready(group.leader)
    early = [pod for pod in group.workers if ready is None or pod.first.at < ready]
    if early:
        what = f"{clues.names(early)} came before the leader was ready"
        return Finding("partial", what, (what,), valid=False)
    if len(bound) == group.size or tight.end - max(_times(bound)) < case.limits.stable:
        what = f"{len(bound)} of {group.size} pods of {group.key} bound: not a lasting part"
        return Finding("placed", what, (what,), valid=False)
    return None


def _finding(group: Generation, tight: Phase, roomy: Phase) -> Finding:
    bound = _bound(group, tight.end)
    waiting = [pod for pod in group.pods if pod not in bound]
    since = min(_times(bound))
    partly = roomy.note.at - since
    release = (group.whole_at or roomy.end) - roomy.note.at
    return Finding(
        "leader-first",
        f"no all-or-nothing with LeaderReady: with room for a part, {len(bound)} of {group.size} "
        f"pods were bound, the leader first, and held it for {partly:.1f} s",
        (
            f"{tight.note.topic} ({tight.note.detail}): {clues.names(bound)} bound for "
            f"{partly:.1f} s, {clues.names(waiting)} refused: {_refusal(waiting[0])}",
            f"{group.leader.name} was bound alone, as minMember is 1; its workers were made when "
            f"it was ready, {min(p.first.at for p in group.workers) - since:.1f} s later",
            f"{roomy.note.topic} ({roomy.note.detail}): whole {release:.1f} s later",
        ),
        measures={
            "boundWithoutRoom": len(bound),
            "partialSeconds": partly,
            "releaseSeconds": release,
        },
        bind_skew=max(_times(group.pods)) - since,
    )


def _refusal(pod: Pod) -> str:
    words = [str(seen.facts.get("unschedulable") or "") for seen in pod.story]
    return next((word for word in reversed(words) if word), "")


def _bound(group: Generation, at: float) -> list[Pod]:
    return [pod for pod in group.pods if pod.bound and pod.bound.at <= at]


def _times(pods: list[Pod]) -> list[float]:
    return [pod.bound.at for pod in pods if pod.bound]


def _ready(pod: Pod) -> float | None:
    return next((seen.at for seen in pod.story if seen.facts.get("ready")), None)
