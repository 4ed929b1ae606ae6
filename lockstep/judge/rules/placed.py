"""Every gang completely bound and running, under the PodGroup that it should have."""

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import ObservedGang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName


def placed(case: Case) -> Finding | RecheckAt | None:
    """Find `placed`, or `released` where that is what was expected."""
    if not all(gang.is_complete for gang in case.wanted):
        return None
    updating = _is_updating(case)
    if updating and not case.final:
        return None  # these gangs may be the old ones, which LWS is about to delete
    pods = [pod for gang in case.wanted for pod in gang.alive]
    problems = explain.problems(case)
    if updating:
        problems.append(f"LWS has not finished the update of {case.expectation.workload}")
    problems += [
        f"unexpected group {gang.key}"
        for gang in case.gangs
        if gang not in case.wanted and gang.alive
    ]
    if problems:
        settled = max(pod.last.at for pod in pods) + limits.SETTLE
        if case.end < settled and not case.final:
            return RecheckAt(settled)
        return fail(_name_of_problem(case), *problems)
    evidence = [f"all {len(pods)} pods bound and running: {explain.names(pods)}"]
    evidence += [_how_bound(gang) for gang in case.wanted]
    evidence += [
        f"PodGroup {group.name}, whose leader was deleted, is not garbage-collected yet"
        for group in case.history.existing("podgroup")
        if podgroups.is_abandoned(case.history, group)
    ]
    is_release = case.expectation.verdict == VerdictName.RELEASED
    name = VerdictName.RELEASED if is_release else VerdictName.PLACED
    return Finding(name, f"{len(pods)} of {len(pods)} pods bound and running", tuple(evidence))


def _is_updating(case: Case) -> bool:
    """Whether LWS says that it is still replacing groups, or has not handled the set yet."""
    name = case.expectation.workload.name
    sets = [one for one in case.history.existing("workload") if one.name == name]
    return any(one.last.facts.get("updating") for one in sets)


def _name_of_problem(case: Case) -> VerdictName:
    """Name a workload that runs with wrong PodGroups: perhaps nothing held its gangs together."""
    if not case.expectation.gang:
        return VerdictName.PLACED
    groups = [podgroups.of(case.history, gang) for gang in case.wanted]
    managed = all(
        group is not None
        and group.last.facts.get("minMember") == podgroups.expected_members(case.expectation)
        and not podgroups.is_abandoned(case.history, group)
        for group in groups
    )
    return VerdictName.MISMATCHED if managed else VerdictName.UNMANAGED


def _how_bound(gang: ObservedGang) -> str:
    skew = figures.bind_skew(gang)
    if skew is None:
        return f"{gang.key}: its binds were not watched, so its bind skew is not known"
    return f"{gang.key} was bound in one burst of {skew:.3f} s"
