"""A group that loses a pod is recreated completely: new pods, under a PodGroup of their own."""

from typing import NamedTuple

from lockstep.judge import explain, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.drill_marks import Phase, Topic
from lockstep.judge.groups import Incarnation, incarnations, pod_group_of
from lockstep.judge.history import ObservedGang
from lockstep.judge.model import Finding
from lockstep.judge.rules.drill import drill_rule
from lockstep.scenarios.verdicts import VerdictName


class Recovery(NamedTuple):
    """The recovery of one group after one incident."""

    seconds: float
    skew: float
    evidence: str


@drill_rule(Topic.LEADER_KILLED, Topic.WORKER_KILLED, Topic.NODE_LOST)
def recreated(case: Case, phases: list[Phase]) -> Finding:
    """Find `recreated`, or the first incident after which a group did not recover."""
    found: list[Recovery] = []
    times: dict[str, float] = {}
    for phase in phases:
        hit = [gang for gang in case.wanted if _was_hit(gang, phase)]
        if not hit:
            return fail(VerdictName.UNTOUCHED, f"{phase}, but no group lost a pod")
        for gang in hit:
            answer = _recovery(case, gang, phase)
            if isinstance(answer, Finding):
                return answer
            found.append(answer)
            name = f"{phase.topic.split()[0]}RecoverySeconds"
            times[name] = max(answer.seconds, times.get(name, 0.0))
    return Finding(
        VerdictName.RECREATED,
        f"the group came back complete after each of {len(phases)} incidents, in "
        f"{max(times.values()):.1f} s at most",
        tuple(one.evidence for one in found),
        measures=times,
        bind_skew=max(one.skew for one in found),
    )


def _was_hit(gang: ObservedGang, phase: Phase) -> bool:
    return any(phase.start < pod.ends <= phase.end for pod in gang.pods)


def _recovery(case: Case, gang: ObservedGang, phase: Phase) -> Recovery | Finding:
    """Compare the group before an incident with the group that was complete before the next."""
    history = case.history
    new = [one for one in incarnations(gang) if phase.start < one.began <= phase.end]
    group = next((one for one in reversed(new) if one.was_complete_at(phase.end)), None)
    binding = group.binding(history.end) if group else None
    if group is None or group.completed_at is None or binding is None:
        return _not_recovered(case, gang, phase, new)
    bursts = [burst for one in new if (burst := one.binding(history.end))]
    slow = [burst for burst in bursts if burst.at_least > limits.BURST]
    if slow:
        what = f"after {phase.topic}, {gang.key} was partly bound for {slow[0].at_least:.1f} s"
        return fail(VerdictName.TORN, what)
    if pod_group_of(history, group, phase.end) is None:
        return _orphaned(case, group, phase)
    seconds, skew = group.completed_at - phase.start, binding.end - binding.start
    # Each leader but the last was deleted again.
    again = f"; it took {len(new)} leaders (see lws#804)" if len(new) > 1 else ""
    evidence = (
        f"{phase}: {group.key} came back in {seconds:.1f} s with {group.size} new pods, bound in "
        f"one burst of {skew:.3f} s under a PodGroup of its new leader{again}"
    )
    return Recovery(seconds, skew, evidence)


def _not_recovered(case: Case, gang: ObservedGang, phase: Phase, new: list[Incarnation]) -> Finding:
    """Say what exists instead of a new group."""
    topic = phase.topic
    kept = [pod for pod in gang.alive if pod.first.at <= phase.start]
    if not new and kept:
        others = [pod for pod in gang.alive if pod not in kept]
        what = (
            f"after {topic}, only {explain.names(others) or 'nothing'} was recreated; "
            f"{explain.names(kept)} stayed (lws#998)"
        )
        return fail(VerdictName.KEPT, what)
    if not new:
        return fail(VerdictName.LOST, f"after {topic}, {gang.key} got no new leader")
    if pod_group_of(case.history, new[-1], phase.end) is None:
        return _orphaned(case, new[-1], phase)
    what = f"after {topic}, {gang.key} did not become complete again"
    return fail(VerdictName.LOST, what, *explain.clues(case.history, gang))


def _orphaned(case: Case, group: Incarnation, phase: Phase) -> Finding:
    """A leader without a PodGroup of its own, and the cause that the recording shows."""
    what = f"after {phase.topic}, the new leader {group.leader.name} owns no PodGroup"
    name = group.leader.last.facts.get("podGroup")
    before = [
        one
        for one in case.history.all("podgroup")
        if one.name == name and one.first.at < group.began
    ]
    if any(one.exists_at(group.began) for one in before):
        # LWS finds the PodGroup of the old leader and does not look again when it is deleted.
        why = f"{name} of the previous leader still existed when it was created (lws#1054)"
    else:
        leader = ObservedGang(group.key, group.size, (group.leader,))
        why = podgroups.missing(case.history, leader)
    return fail(VerdictName.ORPHANED, what, why)
