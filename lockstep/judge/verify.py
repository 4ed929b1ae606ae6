"""Whether all-or-nothing scheduling holds for any LeaderWorkerSets of a cluster.

What to expect comes from the sets themselves: how many groups of how many pods, and which PodGroup
must hold each group together.
"""

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import History, ObjectHistory, ObservedGang
from lockstep.judge.model import Expectation, Finding, Workload
from lockstep.judge.rules.held import refusal_of
from lockstep.judge.rules.torn import torn
from lockstep.recording.model import Recording
from lockstep.scenarios.verdicts import VerdictName

HOLDS, BROKEN, CANNOT_TELL = 0, 1, 2

GangState = tuple[str, bool | None, str]
"""The name of a state, whether the gang holds (None: unknown), and the reason."""


class GangReport(msgspec.Struct, frozen=True, rename="camel"):
    """The result for one group of one set, as `--json` prints it."""

    namespace: str
    workload: str
    group: str
    size: int
    bound: int
    state: str
    holds: bool | None
    """None when the recording does not show it."""
    reason: str
    bind_skew_seconds: float | None
    pod_group: str | None


def exit_code(reports: list[GangReport]) -> int:
    """Broken if any gang is; holds only if every gang is known to hold."""
    if any(report.holds is False for report in reports):
        return BROKEN
    if not reports or any(report.holds is None for report in reports):
        return CANNOT_TELL
    return HOLDS


def examine(recording: Recording) -> list[GangReport]:
    """Judge every group of every LeaderWorkerSet in a recording, by namespace and name."""
    namespaces = sorted({seen.namespace for seen in recording.of("workload")})
    histories = {namespace: History.of(recording, namespace) for namespace in namespaces}
    return [
        report
        for namespace, history in histories.items()
        for lws in sorted(history.existing("workload"), key=lambda one: one.name)
        if lws.last.facts["kind"] == "LeaderWorkerSet"
        for report in _set_reports(history, namespace, lws)
    ]


def _set_reports(history: History, namespace: str, lws: ObjectHistory) -> Iterator[GangReport]:
    facts = lws.last.facts
    expectation = Expectation(
        scenario=lws.name,
        verdict=VerdictName.PLACED,
        namespace=namespace,
        workload=Workload("LeaderWorkerSet", lws.name),
        size=int(facts["size"]),
        groups=int(facts["replicas"]),
    )
    case = Case(history, expectation, history.gangs(expectation))
    for gang in case.gangs:
        is_gone = gang not in case.wanted and not gang.alive  # deleted by a scale-down
        if is_gone and not isinstance(torn(replace(case, gangs=[gang])), Finding):
            continue
        state, holds, reason = _judge(replace(case, gangs=[gang]), gang, facts["startup"])
        group = podgroups.of(history, gang)
        skew = figures.bind_skew(gang)
        yield GangReport(
            namespace=namespace,
            workload=str(expectation.workload),
            group=gang.key,
            size=gang.size,
            bound=len(gang.bound),
            state=state,
            holds=holds,
            reason=reason,
            bind_skew_seconds=None if skew is None else round(skew, 3),
            pod_group=group.name if group else None,
        )


def _judge(case: Case, gang: ObservedGang, startup: str) -> GangState:
    """Look for what is broken first, then for what is proven, then say what is missing."""
    if startup == "LeaderReady":
        why = f"startupPolicy {startup}: the leader is bound alone, so {gang.key} promises nothing"
        return VerdictName.LEADER_FIRST, None, why
    broken = torn(case)
    if isinstance(broken, Finding):
        return broken.observed, False, broken.reason
    return _unmanaged(case, gang) or _bound(gang) or _held(case, gang) or _unclear(gang)


def _unmanaged(case: Case, gang: ObservedGang) -> GangState | None:
    """Find a gang that is not scheduled as one, even if all its pods are bound by luck."""
    if not gang.alive:
        return None
    problems = explain.scheduler_problems(gang)
    if not problems and not _awaits_pod_group(case, gang):
        problems = podgroups.gang_problems(case.history, case.expectation, gang)
    return (VerdictName.UNMANAGED, False, "; ".join(problems)) if problems else None


def _awaits_pod_group(case: Case, gang: ObservedGang) -> bool:
    """Whether a gang is new and has no PodGroup yet: LWS creates it just after the leader."""
    group = podgroups.of(case.history, gang)
    if group is not None and not podgroups.is_abandoned(case.history, group):
        return False
    created = [pod.first.at for pod in gang.alive if not pod.first.listed]
    return bool(created) and case.end - max(created) < limits.SETTLE


def _bound(gang: ObservedGang) -> GangState | None:
    if len(gang.bound) != gang.size:
        return None
    if gang.is_complete:
        return VerdictName.PLACED, True, "all pods bound and running"
    return VerdictName.BOUND, True, "all pods bound"


def _held(case: Case, gang: ObservedGang) -> GangState | None:
    if gang.bound or len(gang.alive) != gang.size:
        return None
    group = podgroups.of(case.history, gang)
    refusal = refusal_of(case, gang, case.history.last_change())
    if group is None or not isinstance(refusal, str):
        return None
    return VerdictName.HELD, True, podgroups.last_refusal(case.history, group)


def _unclear(gang: ObservedGang) -> GangState:
    if not gang.alive:
        return VerdictName.ABSENT, None, f"{gang.key} has no pods"
    if len(gang.alive) != gang.size:
        what = f"{len(gang.alive)} of {gang.size} pods exist"
        return VerdictName.INCOMPLETE, None, what
    if gang.bound:
        what = f"{len(gang.bound)} of {gang.size} pods bound for less than {limits.BURST:g} s"
        return VerdictName.BINDING, None, f"{what}; watch longer"
    what = "no pod bound, and the scheduler did not refuse the gang while watching"
    return VerdictName.PENDING, None, what
