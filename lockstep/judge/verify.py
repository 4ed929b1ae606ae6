"""Whether all-or-nothing scheduling holds for LeaderWorkerSets that we know nothing else about.

What to expect comes from the sets themselves: how many groups of how many pods, and which PodGroup
must hold each together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lockstep.judge import (
    DEFAULT,
    Expectation,
    Limits,
    Workload,
    clues,
    measures,
    podgroups,
    schedulers,
)
from lockstep.judge.case import Case
from lockstep.judge.history import Gang, History, Life
from lockstep.judge.rules.torn import watched
from lockstep.recording.model import Recording

HOLDS, BROKEN, CANNOT_TELL = 0, 1, 2


@dataclass(frozen=True)
class GangReport:
    """What became of one group of one set."""

    namespace: str
    workload: str
    group: str
    size: int
    bound: int
    state: str
    holds: bool | None
    """None when the recording does not tell."""
    reason: str
    bind_skew: float | None
    pod_group: str | None

    def to_mapping(self) -> dict[str, Any]:
        """Write it as `--json` prints it."""
        return {
            "namespace": self.namespace,
            "workload": self.workload,
            "group": self.group,
            "size": self.size,
            "bound": self.bound,
            "state": self.state,
            "holds": self.holds,
            "reason": self.reason,
            "bindSkewSeconds": self.bind_skew,
            "podGroup": self.pod_group,
        }


def exit_code(reports: list[GangReport]) -> int:
    """Broken if any gang is; holds only if every gang is known to."""
    if any(report.holds is False for report in reports):
        return BROKEN
    if not reports or any(report.holds is None for report in reports):
        return CANNOT_TELL
    return HOLDS


def examine(recording: Recording, limits: Limits = DEFAULT) -> list[GangReport]:
    """Judge every group of every LeaderWorkerSet in a recording, by namespace and name."""
    spaces = sorted({seen.namespace for seen in recording.of("workload")})
    histories = {space: History.of(recording, space) for space in spaces}
    return [
        report
        for space, history in histories.items()
        for life in sorted(history.living("workload"), key=lambda life: life.name)
        if life.last.facts["kind"] == "LeaderWorkerSet"
        for report in _set_reports(history, space, life, limits)
    ]


def _set_reports(
    history: History, namespace: str, life: Life, limits: Limits
) -> Iterator[GangReport]:
    facts = life.last.facts
    expectation = Expectation(
        scenario=life.name,
        verdict="placed",
        namespace=namespace,
        workload=Workload("LeaderWorkerSet", life.name),
        size=int(facts["size"]),
        groups=int(facts["replicas"]),
    )
    case = Case(history, expectation, limits)
    for gang in case.gangs:
        if gang not in case.wanted and not gang.alive:
            continue  # gone with a scale-down, as it should
        if facts["startup"] == "LeaderReady":
            state, holds, reason = _leader_first(gang)
        else:
            state, holds, reason = _judge(case, gang)
        group = podgroups.of(history, gang)
        skew = measures.bind_skew(history, gang)
        yield GangReport(
            namespace=namespace,
            workload=str(expectation.workload),
            group=gang.key,
            size=gang.size,
            bound=len(gang.bound),
            state=state,
            holds=holds,
            reason=reason,
            bind_skew=None if skew is None else round(skew, 3),
            pod_group=group.name if group else None,
        )


Finding = tuple[str, bool | None, str]


def _leader_first(gang: Gang) -> Finding:
    return (
        "leader-first",
        None,
        f"startupPolicy LeaderReady: the leader is bound alone, so {gang.key} promises nothing",
    )


def _judge(case: Case, gang: Gang) -> Finding:
    """Look for what is broken first, then for what is proven, then say what is missing."""
    return (
        _torn(case, gang)
        or _unmanaged(case, gang)
        or _whole(gang)
        or _held(case, gang)
        or _unclear(case, gang)
    )


def _torn(case: Case, gang: Gang) -> Finding | None:
    for interval in gang.partly_bound(case.end):
        length = watched(interval, case.history)
        if length > case.limits.burst:
            bound = len(gang.bound) if interval.open else "some"
            what = f"{bound} of {gang.size} pods bound for {length:.1f} s"
            found = [what, *clues.about(case.history, gang)]
            return ("partial" if interval.open else "torn", False, "; ".join(found))
    return None


def _unmanaged(case: Case, gang: Gang) -> Finding | None:
    """Find a gang that nothing holds together, though it may be whole by luck."""
    if not gang.alive:
        return None
    if problems := schedulers.problems(gang):
        return ("unmanaged", False, "; ".join(problems))
    group = podgroups.of(case.history, gang)
    if group is None or podgroups.abandoned(case.history, group):
        new = [p for p in gang.alive if not p.first.listed]
        if any(case.end - p.first.at < case.limits.settle for p in new):
            return None  # LWS makes the PodGroup just after the leader
        reason = (
            podgroups.inherited(group, gang) if group else podgroups.missing(case.history, gang)
        )
        return ("unmanaged", False, reason)
    minimum = group.last.facts.get("minMember")
    if minimum != gang.size:
        what = f"PodGroup {group.name} has minMember {minimum}, not {gang.size}"
        return ("unmanaged", False, what)
    return None


def _whole(gang: Gang) -> Finding | None:
    if len(gang.bound) != gang.size:
        return None
    if gang.complete:
        return ("placed", True, "all pods bound and running")
    return ("bound", True, "all pods bound")


def _held(case: Case, gang: Gang) -> Finding | None:
    group = podgroups.of(case.history, gang)
    if group is None or gang.bound or len(gang.alive) != gang.size:
        return None
    cycles = podgroups.refusals(case.history, group, gang.size, case.history.last_change())
    if cycles < case.limits.cycles and not podgroups.refusals_ran_out(case.history, group):
        return None
    return ("held", True, podgroups.last_refusal(case.history, group))


def _unclear(case: Case, gang: Gang) -> Finding:
    if not gang.alive:
        return ("absent", None, f"{gang.key} has no pods")
    if len(gang.alive) != gang.size:
        return ("incomplete", None, f"{len(gang.alive)} of {gang.size} pods exist")
    if gang.bound:
        what = f"{len(gang.bound)} of {gang.size} pods bound for less than {case.limits.burst:g} s"
        return ("binding", None, f"{what}; watch longer")
    return ("pending", None, "no pod bound, and no scheduler refused it while watching")
