"""A gang of higher priority comes to a full pool: it gets the room whole, or it waits."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import clues, podgroups, rivals
from lockstep.judge import figures as gang_runs
from lockstep.judge.case import Case
from lockstep.judge.figures import Run
from lockstep.judge.history import Gang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules.slow import slow


def preempted(case: Case) -> Finding | RecheckAt | None:
    """Find `preempted-whole` or `waits`; `cut` when a part of a gang had to go for another."""
    theirs = rivals.of(case.history, case.expectation)
    newcomers = [pod for gang in theirs for pod in gang.alive]
    if not newcomers:
        return None
    if (answer := slow(case, [*case.gangs, *theirs])) is not None:
        return answer
    own = gang_runs.of(case.history, case.wanted)
    arrival = min(pod.first.at for pod in newcomers)
    victims = [run for run in own if run.over and run.end >= arrival]
    if (answer := _cut(case, victims)) is not None:
        return answer
    if all(gang.complete for gang in theirs):
        return _placed(case, theirs, victims, arrival)
    return _waiting(case, theirs, own, arrival)


def _cut(case: Case, victims: Sequence[Run]) -> Finding | RecheckAt | None:
    for run in victims:
        lasted = case.end - run.end if run.lingers else run.ending
        if lasted > case.limits.burst:
            kept = [pod for pod in run.generation.pods if pod.bound and pod.alive]
            what = f"{run.key} lost pods to the other gang and kept others for {lasted:.1f} s"
            return Finding("cut", what, (f"still bound: {clues.names(kept) or 'none'}",))
        if run.lingers:
            return RecheckAt(run.end + case.limits.burst + 0.001)
    return None


def _placed(
    case: Case, theirs: Sequence[Gang], victims: Sequence[Run], arrival: float
) -> Finding | RecheckAt | None:
    if not victims:
        return Finding("placed", "there was room for both: nobody had to go", ())
    runs = gang_runs.of(case.history, theirs)
    whole = max(run.start for run in runs if not run.over)
    ending = max(run.ending for run in victims)
    names = ", ".join(dict.fromkeys(run.key for run in victims))
    what = (
        f"{names} went whole for the gang of higher priority, which ran {whole - arrival:.1f} s "
        "after it arrived"
    )
    evidence = [
        *(_priority(case, gang) for gang in [*theirs, *case.wanted]),
        f"{names} gave up its places within {ending:.3f} s",
        *(_fate(case, gang) for gang in case.wanted),
    ]
    measures = {"preemptionSeconds": whole - arrival, "victimPartlyBoundSeconds": ending}
    skew = gang_runs.longest_bind_skew(case.history, runs)
    return Finding("preempted-whole", what, tuple(evidence), measures=measures, bind_skew=skew)


def _waiting(
    case: Case, theirs: Sequence[Gang], own: Sequence[Run], arrival: float
) -> Finding | RecheckAt | None:
    """Find `waits`: all that came is refused, and all that was there is untouched."""
    pods = [pod for gang in theirs for pod in gang.alive]
    there = all(len(gang.alive) == gang.size for gang in theirs)
    if (
        not there
        or any(pod.bound for pod in pods)
        or any(run.over for run in own if run.end >= arrival)
    ):
        return None
    expected = case.expectation.verdict == "waits"
    until = max(pod.first.at for pod in pods) + (
        case.limits.stable if expected else case.limits.patience
    )
    if case.end < until:
        return RecheckAt(until)
    groups = [podgroups.of(case.history, gang) for gang in theirs]
    reasons = [why for group in groups if group for why in podgroups.reasons(case.history, group)]
    if not reasons:
        return None
    what = f"the gang of higher priority waits, and the one that runs is untouched: {reasons[-1]}"
    evidence = (*(_priority(case, gang) for gang in [*theirs, *case.wanted]), *reasons)
    return Finding("waits", what, evidence)


def _priority(case: Case, gang: Gang) -> str:
    """Tell which priority the pods have, and which Volcano goes by."""
    group = podgroups.of(case.history, gang)
    pods = sorted({str(pod.last.facts.get("priorityClass")) for pod in gang.pods})
    if group is None:
        return f"{gang.key}: pods of priority class {', '.join(pods)}, no PodGroup"
    named = group.last.facts.get("priorityClass")
    return (
        f"{gang.key}: pods of priority class {', '.join(pods)}, PodGroup {group.name} of "
        f"{named or 'none, which LWS leaves out'}"
    )


def _fate(case: Case, gang: Gang) -> str:
    alive, bound = gang.alive, gang.bound
    if len(alive) < gang.size:
        return f"{gang.key} is being made anew: {len(alive)} of {gang.size} pods so far"
    if podgroups.of(case.history, gang) is None:
        return f"{gang.key} was made anew without a PodGroup (lws#1054)"
    return f"{gang.key} was made anew and waits whole: {len(bound)} of {gang.size} pods bound"
