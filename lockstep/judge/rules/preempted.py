"""A gang of higher priority comes to a full pool: it gets the places of a gang, or it waits."""

import math
from collections.abc import Sequence

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case, fail, unproven
from lockstep.judge.drill_marks import Topic
from lockstep.judge.figures import Run
from lockstep.judge.history import ObservedGang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules.torn import torn_while_binding
from lockstep.scenarios.verdicts import VerdictName


def preempted(case: Case) -> Finding | RecheckAt | None:
    """Find `preempted-whole` or `waits`; `cut` when only a part of a gang was preempted."""
    rivals = case.rivals
    if not any(gang.alive for gang in rivals):
        return None
    if (answer := torn_while_binding(case)) is not None:
        return answer
    arrival = _arrival(case, rivals)
    own = figures.runs(case.history, case.wanted)
    victims = [run for run in own if run.over and run.end >= arrival]
    if (answer := _cut(case, victims)) is not None:
        return answer
    if all(gang.is_complete for gang in rivals):
        return _preempted(case, rivals, victims, arrival)
    return None if victims else _waiting(case, rivals)


def _arrival(case: Case, rivals: Sequence[ObservedGang]) -> float:
    """When the first pod of the rival was created, or of this rival if there was one before."""
    marks = case.history.recording.marks
    since = max((mark.at for mark in marks if mark.topic == Topic.RIVAL_ARRIVES), default=-math.inf)
    created = [pod.first.at for gang in rivals for pod in gang.pods]
    return min((at for at in created if at >= since), default=max(created))


def _cut(case: Case, victims: Sequence[Run]) -> Finding | RecheckAt | None:
    for run in victims:
        lasted = case.end - run.end if run.lingers else run.ending.at_least
        if lasted > limits.BURST:
            kept = [pod for pod in run.incarnation.bound_pods if pod.alive]
            what = f"{run.key} lost pods to the other gang and kept others for {lasted:.1f} s"
            evidence = (f"still bound: {explain.names(kept) or 'none'}",)
            return Finding(VerdictName.CUT, what, evidence)
        if run.lingers:
            return RecheckAt(run.end + limits.BURST + 0.001)
    return None


def _preempted(
    case: Case, rivals: Sequence[ObservedGang], victims: Sequence[Run], arrival: float
) -> Finding | RecheckAt:
    if not victims:
        return Finding(VerdictName.PLACED, "there was room for both: no gang was preempted", ())
    runs = figures.runs(case.history, rivals)
    # The last run of each gang: it is over when a pod is replaced, although the gang is complete.
    complete = max(run.start for run in runs)
    ending = max(run.ending.end - run.end for run in victims)
    if max(run.ending.at_most for run in victims) > limits.BURST:
        what = "how long a part of the preempted gang stayed is not known: its end was told late"
        return unproven(what)
    if kept := [run.key for run in victims if not _evictions(case, run)]:
        later = max(run.end for run in victims) + limits.EVENTS
        if case.end < later and not case.final:
            return RecheckAt(later)
        return unproven(f"{kept[0]} ended, but the scheduler did not report that it evicted it")
    if unranked := [gang.key for gang in rivals if not _class_of(case, gang)]:
        what = f"the PodGroup of {unranked[0]} has no priority class: its priority decided nothing"
        return fail(VerdictName.MISMATCHED, what)
    names = ", ".join(dict.fromkeys(run.key for run in victims))
    what = (
        f"{names} was preempted completely by the gang of higher priority, which ran "
        f"{complete - arrival:.1f} s after it arrived"
    )
    evidence = [
        *(_priority(case, gang) for gang in [*rivals, *case.wanted]),
        *(_evicted(case, run) for run in victims),
        f"{names} gave up its places within {ending:.3f} s",
        *(_aftermath(case, gang) for gang in case.wanted),
    ]
    return Finding(
        VerdictName.PREEMPTED_WHOLE,
        what,
        tuple(evidence),
        measures={"preemptionSeconds": complete - arrival, "victimPartlyBoundSeconds": ending},
        bind_skew=figures.longest_run_skew(case.history, runs),
    )


def _waiting(case: Case, rivals: Sequence[ObservedGang]) -> Finding | RecheckAt | None:
    """Find `waits`: the rival is refused for a long time, and the running gangs are untouched."""
    pods = [pod for gang in rivals for pod in gang.alive]
    if any(len(gang.alive) != gang.size for gang in rivals) or any(pod.bound for pod in pods):
        return None
    until = max(pod.first.at for pod in pods) + limits.PATIENCE
    if case.end < until:
        return RecheckAt(until)
    groups = [podgroups.of(case.history, gang) for gang in rivals]
    reasons = [why for group in groups if group for why in podgroups.refusals(case.history, group)]
    if not reasons:
        return None
    what = f"the gang of higher priority waits, and the running gang is untouched: {reasons[-1]}"
    evidence = (
        *(_priority(case, gang) for gang in [*rivals, *case.wanted]),
        *dict.fromkeys(reasons),
    )
    return Finding(VerdictName.WAITS, what, evidence)


def _priority(case: Case, gang: ObservedGang) -> str:
    """The priority class of the pods, and the class of the PodGroup, which Volcano compares."""
    group = podgroups.of(case.history, gang)
    pods = sorted({str(pod.last.facts.get("priorityClass")) for pod in gang.pods})
    if group is None:
        return f"{gang.key}: pods of priority class {', '.join(pods)}, no PodGroup"
    named = _class_of(case, gang)
    return (
        f"{gang.key}: pods of priority class {', '.join(pods)}, PodGroup {group.name} of "
        f"{named or 'none, because LWS does not set it'}"
    )


def _evictions(case: Case, run: Run) -> list[str]:
    """The actions by which the scheduler reported that it evicted pods of a gang."""
    name = run.incarnation.leader.last.facts.get("podGroup")
    uids = {group.uid for group in case.history.all("podgroup") if group.name == name}
    return [
        str(event.last.facts.get("message"))
        for event in case.history.all("event")
        if event.last.facts.get("reason") == "Evict"
        and event.last.facts.get("objectUid") in uids
        and event.last.facts.get("source") == explain.GANG_SCHEDULER
    ]


def _evicted(case: Case, run: Run) -> str:
    """How much of a gang the scheduler evicted itself, and by which action."""
    pods = run.incarnation.bound_pods
    count = sum(pod.last.facts.get("preemptedBy") == explain.GANG_SCHEDULER for pod in pods)
    actions = ", ".join(dict.fromkeys(_evictions(case, run)))
    if count == len(pods):
        return f"Volcano evicted all {count} pods of {run.key} ({actions})"
    some = f"{count} of {len(pods)} pods of {run.key}"
    return f"Volcano evicted {some} ({actions}), and LWS ended the rest"


def _class_of(case: Case, gang: ObservedGang) -> str | None:
    group = podgroups.of(case.history, gang)
    return group.last.facts.get("priorityClass") if group else None


def _aftermath(case: Case, gang: ObservedGang) -> str:
    """What became of a gang that was preempted."""
    alive, bound = gang.alive, gang.bound
    if len(alive) < gang.size:
        return f"{gang.key} is being recreated: {len(alive)} of {gang.size} pods exist"
    if podgroups.of(case.history, gang) is None:
        return f"{gang.key} was recreated without a PodGroup (lws#1054)"
    return f"{gang.key} was recreated and waits: {len(bound)} of {gang.size} pods bound"
