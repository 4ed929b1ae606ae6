"""What a recording must show before a verdict is ok: everything, from creation to the last bind.

A rule finds a state. These checks ask whether the recording proves how it came about: that the pods
are new, who bound them and when, under which PodGroup, and what the scheduler ran.
"""

import math
from collections.abc import Iterable, Iterator

from lockstep.judge import explain, limits, platform, podgroups
from lockstep.judge.case import Case, fail, unproven
from lockstep.judge.groups import (
    Incarnation,
    all_incarnations,
    binding_bursts,
    partly_bound,
)
from lockstep.judge.history import History, ObservedGang, PodHistory, bind_times
from lockstep.judge.model import Finding, RecheckAt
from lockstep.recording.model import version_number
from lockstep.scenarios.verdicts import VerdictName

FROM_CREATION = (
    VerdictName.PLACED,
    VerdictName.PARTIAL,
    VerdictName.SERIALIZED,
    VerdictName.DEADLOCKED,
    VerdictName.CAPPED,
)
"""Verdicts about how pods were bound: none of the pods may be older than the recording."""


def objection(case: Case) -> Finding | RecheckAt | None:
    """Find what the recording does not prove of the expected state that a rule has found."""
    checks = (
        _foreign_pods,
        _other_schedulers,
        _unseen_origin,
        _missed_pods,
        _bound_before,
        _bursts,
        _bound_by_others,
        _demands,
    )
    for check in checks:
        if (found := check(case)) is not None:
            return found
    return _platform(case)


def _gangs_pods(case: Case) -> list[PodHistory]:
    return [pod for gang in [*case.gangs, *case.rivals] for pod in gang.pods]


def _foreign_pods(case: Case) -> Finding | None:
    """Find a pod with a gang's labels or PodGroup that LWS's StatefulSets did not create."""
    expectation, mine = case.expectation, _gangs_pods(case)
    uids = {pod.uid for pod in mine}
    groups = {pod.last.facts["podGroup"] for pod in mine}
    for pod in case.history.pods:
        name = pod.last.facts["podGroup"]
        if name and name in groups and pod.uid not in uids:
            what = f"pod {pod.name}, which is not of {expectation.workload}, names PodGroup {name}"
            return fail(VerdictName.MISMATCHED, what)
    for workload in filter(None, (expectation.workload, expectation.rival)):
        if not workload.is_grouped:
            continue
        for gang in case.history.gangs(expectation, workload):
            for pod in gang.pods:
                facts = pod.first.facts
                owner = workload.name if facts.get("role") == "leader" else gang.key
                if facts.get("owner") != f"StatefulSet/{owner}":
                    belongs = facts.get("owner") or "no controller"
                    what = f"pod {pod.name} has the labels of {gang.key}, but belongs to {belongs}"
                    return fail(VerdictName.MISMATCHED, what)
    return None


def _other_schedulers(case: Case) -> Finding | None:
    """Find a pod of a gang, also an earlier one, that asked for another scheduler."""
    for pod in _gangs_pods(case) if case.expectation.gang else ():
        if (name := pod.last.facts.get("scheduler")) != explain.GANG_SCHEDULER:
            what = f"{pod.name} asked for {name}, not for {explain.GANG_SCHEDULER}"
            return fail(VerdictName.MISMATCHED, what)
    return None


def _missed_pods(case: Case) -> Finding | None:
    """Find a time in which pods may have come and gone unseen."""
    for gap in case.history.gaps("pod"):
        if gap.end - gap.start > limits.BURST:
            what = f"what happened to the pods from {gap.start:.1f} to {gap.end:.1f} s was lost"
            return unproven(what)
    return None


def _bound_before(case: Case) -> Finding | None:
    """Find pods of a held gang that were bound, although they may not be any more."""
    if case.expectation.verdict != VerdictName.HELD:
        return None
    bound = [pod for pod in _gangs_pods(case) if pod.bound and not pod.bound_at_start]
    if not bound:
        return None
    was_full = any(one.fully_bound_at is not None for one in all_incarnations(case.gangs))
    name = VerdictName.PLACED if was_full else VerdictName.TORN
    return fail(name, f"{explain.names(bound)} was bound before the gang was held")


def old_pods(case: Case) -> list[PodHistory]:
    """Pods that are older than the recording."""
    return [pod for gang in case.wanted for pod in gang.alive if pod.preexisting]


def _unseen_origin(case: Case) -> Finding | None:
    """Find pods whose creation, or whose release, was not seen."""
    if case.expectation.verdict == VerdictName.RELEASED:
        return _released(case, [pod for gang in case.wanted for pod in gang.alive])
    if case.expectation.verdict in FROM_CREATION and (old := old_pods(case)):
        return unproven(f"{explain.names(old)} existed before the recording began")
    return None


def _released(case: Case, pods: list[PodHistory]) -> Finding | None:
    """Find a release that was not seen: held before, a worker unblocked, then every bind."""
    bound = [pod for pod in pods if pod.bound_at_start]
    if bound:
        what = f"{explain.names(bound)} was bound before the recording began"
        return unproven(what)
    # Versions order the changes of pods and nodes, whichever watch was told first.
    created = max(0 if pod.preexisting else version_number(pod.first.version) for pod in pods)
    first_bind = min(version_number(pod.bound.version) for pod in pods if pod.bound)
    removals = [version_number(seen.version) for seen, _ in case.history.taint_removals()]
    if not any(created < version < first_bind for version in removals):
        return unproven("no worker was unblocked while the gang waited")
    return None


def _bursts(case: Case) -> Finding | None:
    """Find a gang that was partly bound for too long, or possibly for too long.

    Also one that the rule did not look at, such as the gang that a drill started from, or one that
    was complete and did not end as a whole.
    """
    if not case.expectation.gang or case.expectation.verdict == VerdictName.LEADER_FIRST:
        return None
    for burst in binding_bursts(case.history, [*case.gangs, *case.rivals]):
        if burst.is_too_long:
            what = f"{burst.gang.key} was partly bound for {burst.interval.at_least:.1f} s"
            return fail(VerdictName.TORN, what)
        length = burst.interval.at_most
        if limits.BURST < length < math.inf:
            return unproven(
                f"the pods of {burst.gang.key} may have been bound in up to {length:.1f} s: the "
                "API server or the recorder was late"
            )
    for stretch in partly_bound(case.history, case.gangs):
        if stretch.ending and stretch.is_too_long:
            lasted = stretch.interval.at_least
            what = f"{stretch.gang.key} lost a pod and was partly bound for {lasted:.1f} s after"
            return fail(VerdictName.TORN, what)
    return None


def _bound_by_others(case: Case) -> Finding | RecheckAt | None:
    """Find a pod whose bind its scheduler did not report, as of a pod that was bound by hand."""
    reported = {
        (event.last.facts.get("objectUid"), event.last.facts.get("source"))
        for event in case.history.all("event")
        if event.last.facts.get("reason") == "Scheduled"
    }
    for pod in _gangs_pods(case):
        if pod.bound is None or pod.bound_at_start:
            continue
        scheduler = pod.last.facts.get("scheduler")
        if (pod.uid, scheduler) in reported:
            continue
        later = pod.bound.at + limits.EVENTS
        if case.end < later and not case.final:
            return RecheckAt(later)
        return unproven(f"{pod.name} was bound, but {scheduler} did not report that it bound it")
    return None


def _demands(case: Case) -> Finding | None:
    """Find a gang that was bound under a PodGroup with other demands than its own."""
    # Groups that come and go are expected of some drills only.
    comes_and_goes = case.expectation.verdict in (VerdictName.SCALED, VerdictName.ROLLED)
    gangs = case.gangs if comes_and_goes else case.wanted
    for group in _bound_in_view([*gangs, *case.rivals]):
        if missed := _missed_pod_groups(case.history, group):
            return unproven(missed)
        if problems := podgroups.problems_while_binding(case.history, group, case.expectation):
            return fail(VerdictName.MISMATCHED, *problems)
    return None


def _missed_pod_groups(history: History, group: Incarnation) -> str:
    """When PodGroups may have changed unseen while a gang was bound; empty if never."""
    seen = [pod.bound for pod in group.pods if pod.bound]
    first, last = min(one.earliest for one in seen), max(one.at for one in seen)
    for gap in history.gaps("podgroup"):
        if gap.start <= last and first <= gap.end:
            return f"what happened to PodGroups from {gap.start:.1f} to {gap.end:.1f} s was lost"
    return ""


def _bound_in_view(gangs: Iterable[ObservedGang]) -> Iterator[Incarnation]:
    for group in all_incarnations(gangs):
        was_full = group.fully_bound_at is not None
        if was_full and not any(pod.bound_at_start for pod in group.bound_pods):
            yield group


def _platform(case: Case) -> Finding | RecheckAt | None:
    """Find a scheduler that may not have scheduled gangs while these gangs were scheduled."""
    if not case.expectation.gang:
        return None
    pods = [pod for pod in _gangs_pods(case) if not pod.bound_at_start]
    start = min((_created(pod) for pod in pods), default=case.end)
    binds = bind_times(pods)
    end = max([start, *binds, *_refused_until(case.history)])
    found = platform.problem(case.history, start, min([end, *binds]), end, case.final)
    return unproven(found) if isinstance(found, str) else found


def _created(pod: PodHistory) -> float:
    return 0.0 if pod.preexisting else pod.first.at


def _refused_until(history: History) -> list[float]:
    """When the scheduler last refused a gang."""
    events = history.all("event")
    return [one.last.at for one in events if one.last.facts.get("reason") == "Unschedulable"]
