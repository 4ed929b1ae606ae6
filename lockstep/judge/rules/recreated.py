"""A group that loses a pod comes back whole: new pods, together, under a PodGroup of their own."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.judge import clues, notes, podgroups
from lockstep.judge import groups as generations
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.history import Gang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.notes import Phase
from lockstep.judge.rules.unstarted import unstarted

LEADER, WORKER, NODE = "leader killed", "worker killed", "node lost"


@dataclass(frozen=True)
class Recovery:
    """One group's return after one incident."""

    phase: Phase
    group: Generation
    seconds: float
    skew: float
    leaders: int
    """How many leaders it took: each but the last was removed again."""

    def told(self) -> str:
        """Say it in a line."""
        again = f"; it took {self.leaders} leaders (see lws#804)" if self.leaders > 1 else ""
        return (
            f"{self.phase.note.topic} ({self.phase.note.detail}): {self.group.key} came back in "
            f"{self.seconds:.1f} s with {self.group.size} new pods, bound in one burst of "
            f"{self.skew:.3f} s under a PodGroup of its new leader{again}"
        )


def recreated(case: Case) -> Finding | RecheckAt | None:
    """Find `recreated` once the drill is over, or the first incident that was not made good."""
    if not (notes.is_over(case.history) or case.final):
        return None
    incidents = notes.phases(case.history, (LEADER, WORKER, NODE))
    if not incidents:
        return unstarted(case)
    found: list[Recovery] = []
    for phase in incidents:
        hit = [gang for gang in case.wanted if _hit(gang, phase)]
        if not hit:
            what = f"{phase.note.topic} ({phase.note.detail}), but no group lost a pod"
            return Finding("untouched", what, (what,), valid=False)
        for gang in hit:
            answer = _recovery(case, gang, phase)
            if isinstance(answer, Finding):
                return answer
            found.append(answer)
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(problems), valid=False)
    return _finding(found)


def _finding(found: list[Recovery]) -> Finding:
    times: dict[str, float] = {}
    for one in found:
        name = f"{one.phase.note.topic.split()[0]}RecoverySeconds"
        times[name] = max(one.seconds, times.get(name, 0.0))
    slowest = max(times.values())
    return Finding(
        "recreated",
        f"the group came back whole after each of {len(times)} incidents, in {slowest:.1f} s "
        "at most",
        tuple(one.told() for one in found),
        measures=times,
        bind_skew=max(one.skew for one in found),
    )


def _hit(gang: Gang, phase: Phase) -> bool:
    return any(p.leaving and phase.note.at < p.leaving.at <= phase.end for p in gang.pods)


def _recovery(case: Case, gang: Gang, phase: Phase) -> Recovery | Finding:
    """Compare the group before an incident with the one that stood before the next."""
    history, since = case.history, phase.note.at
    lives = generations.of(gang)
    new = [life for life in lives if since < life.began <= phase.end]
    group = next((life for life in reversed(new) if life.whole_until(phase.end)), None)
    binding = group.binding(history.end) if group else None
    if group is None or group.whole_at is None or binding is None:
        return _missing(case, gang, phase, new)
    slow = generations.slow_binding(history, new, case.limits.burst)
    if slow is not None:
        length = slow[1].end - slow[1].start
        what = f"after {phase.note.topic}, {gang.key} was bound in part for {length:.1f} s"
        return Finding("torn", what, (what,), valid=False)
    if generations.owned(history, group, phase.end) is None:
        return _orphan(case, group, phase)
    skew = binding.end - binding.start
    return Recovery(phase, group, group.whole_at - since, skew, leaders=len(new))


def _missing(case: Case, gang: Gang, phase: Phase, new: list[Generation]) -> Finding:
    """Say what there is instead of a new group."""
    topic = phase.note.topic
    kept = [p for p in gang.alive if p.first.at <= phase.note.at]
    if not new and kept:
        others = [p for p in gang.alive if p not in kept]
        what = (
            f"after {topic}, only {clues.names(others) or 'nothing'} was made anew; "
            f"{clues.names(kept)} stayed (lws#998)"
        )
        return Finding("kept", what, (what,), valid=False)
    if not new:
        what = f"after {topic}, {gang.key} got no new leader"
        return Finding("lost", what, (what,), valid=False)
    if generations.owned(case.history, new[-1], phase.end) is None:
        return _orphan(case, new[-1], phase)
    what = f"after {topic}, {gang.key} did not become whole again"
    return Finding("lost", "; ".join([what, *clues.about(case.history, gang)]), valid=False)


def _orphan(case: Case, group: Generation, phase: Phase) -> Finding:
    """A leader without a PodGroup of its own, and why, as far as the recording tells."""
    what = f"after {phase.note.topic}, the new leader {group.leader.name} owns no PodGroup"
    name = group.leader.last.facts.get("podGroup")
    before = [
        life
        for life in case.history.lives.get("podgroup", ())
        if life.name == name and life.first.at < group.began
    ]
    if any(not life.gone or life.last.at > group.began for life in before):
        # LWS finds the old leader's, is content, and does not look again when it goes.
        why = f"{name} was still its predecessor's when it came (lws#1054)"
    else:
        why = podgroups.missing(case.history, Gang(group.key, group.size, (group.leader,)))
    return Finding("orphaned", f"{what}; {why}", (what, why), valid=False)
