"""Every gang bound whole and running, under the PodGroup that it should have."""

from __future__ import annotations

from lockstep.judge import clues, measures, podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import Gang, History
from lockstep.judge.model import Finding, RecheckAt


def placed(case: Case) -> Finding | RecheckAt | None:
    """Find `placed`, or `released` where that is what was to be shown."""
    if not all(gang.complete for gang in case.wanted):
        return None
    updating = _updating(case)
    if updating and not case.final:
        return None  # these gangs may be the old ones, and are about to go
    pods = [pod for gang in case.wanted for pod in gang.alive]
    problems = clues.problems(case)
    if updating:
        problems.append(f"LWS has not finished the update of {case.expectation.workload}")
    problems += [
        f"group {gang.key} is one too many"
        for gang in case.gangs
        if gang not in case.wanted and gang.alive
    ]
    if problems:
        settled = max(pod.last.at for pod in pods) + case.limits.settle
        if case.end < settled:
            return RecheckAt(settled)
        return Finding(_mismatch(case), "; ".join(problems), tuple(problems), valid=False)
    evidence = [f"all {len(pods)} pods bound and running: {clues.names(pods)}"]
    evidence += [_how_bound(case.history, gang) for gang in case.wanted]
    evidence += [
        f"PodGroup {group.name}, of a leader that has left, is still to be collected"
        for group in case.history.living("podgroup")
        if podgroups.abandoned(case.history, group)
    ]
    name = "released" if case.expectation.verdict == "released" else "placed"
    return Finding(name, f"{len(pods)} of {len(pods)} pods bound and running", tuple(evidence))


def _updating(case: Case) -> bool:
    """Whether LWS says that it is still replacing groups, or has not looked at the set yet."""
    name = case.expectation.workload.name
    sets = [life for life in case.history.living("workload") if life.name == name]
    return any(life.last.facts.get("updating") for life in sets)


def _mismatch(case: Case) -> str:
    """Name a complete workload whose PodGroups are wrong: nothing may have held it together."""
    expectation = case.expectation
    if not expectation.gang:
        return "placed"
    minimum = expectation.size if expectation.min_member is None else expectation.min_member
    groups = [podgroups.of(case.history, gang) for gang in case.wanted]
    managed = all(
        group is not None
        and group.last.facts.get("minMember") == minimum
        and not podgroups.abandoned(case.history, group)
        for group in groups
    )
    return "mismatched" if managed else "unmanaged"


def _how_bound(history: History, gang: Gang) -> str:
    skew = measures.bind_skew(history, gang)
    if skew is None:
        return f"{gang.key}: nobody watched while it was bound, so its bind skew is not known"
    return f"{gang.key} was bound in one burst of {skew:.3f} s"
