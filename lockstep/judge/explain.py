"""Reasons in words: which pods, what is wrong, and what may have kept a gang from its place."""

from collections.abc import Sequence

from lockstep.judge import podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import History, ObjectHistory, ObservedGang, PodHistory
from lockstep.judge.model import Finding
from lockstep.scenarios.verdicts import VerdictName

GANG_SCHEDULER = "volcano"
"""The scheduler that every pod of a gang must ask for."""
# Known to ignore PodGroups; LWS creates PodGroups for its pods all the same (lws#630).
_PLAIN_SCHEDULER = "default-scheduler"
# These events have rules of their own, which name the gang that they are about.
_ORDINARY = ("Unschedulable", "FailedScheduling")
_LONGEST = 300


def names(pods: Sequence[PodHistory], most: int = 8) -> str:
    """List pods by name, the first few of many."""
    known = sorted(pod.name for pod in pods)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def scheduler_problems(gang: ObservedGang) -> list[str]:
    """What is wrong with the schedulers that a gang's pods ask for, each as one clause.

    A pod of another scheduler does not stop Volcano: once bound, it counts as one of the gang. So
    all pods of such a gang may be bound by luck, which proves nothing.
    """
    asked: dict[str, list[PodHistory]] = {}
    for pod in gang.alive:
        asked.setdefault(str(pod.last.facts.get("scheduler")), []).append(pod)
    if len(asked) > 1:
        few = min(asked, key=lambda name: (len(asked[name]), name))
        return [f"{names(asked[few])} asks for another scheduler, {few}"]
    if _PLAIN_SCHEDULER in asked:
        return [f"{gang.key} asks for {_PLAIN_SCHEDULER}, which ignores PodGroups"]
    return [
        f"{gang.key} asks for {name}, not for {GANG_SCHEDULER}"
        for name in asked
        if name != GANG_SCHEDULER
    ]


def clues(history: History, gang: ObservedGang) -> list[str]:
    """What the recording shows that may explain why a gang is not scheduled as one."""
    found = scheduler_problems(gang)
    group = podgroups.of(history, gang)
    if group is None:
        found.append(podgroups.missing(history, gang))
    elif (group.last.facts.get("minMember") or 0) < gang.size:
        found.append(f"PodGroup {group.name} has minMember {group.last.facts.get('minMember')}")
    return found


def problems(case: Case) -> list[str]:
    """Everything that is wrong with how the gangs are scheduled, although they look right."""
    found = podgroups.problems(case, uncollected=False)
    if case.expectation.gang:
        found += [problem for gang in case.wanted for problem in scheduler_problems(gang)]
    return found


def final_state(case: Case) -> Finding:
    """Name the state at the deadline, with the likeliest cause that the recording shows."""
    expected = case.expectation.pods
    alive = [pod for gang in case.wanted for pod in gang.alive]
    bound = [pod for pod in alive if pod.bound]
    if not alive:
        return _finding(case, VerdictName.ABSENT, _absent(case))
    if len(alive) != expected:
        what = f"{len(alive)} of {expected} pods exist, {len(bound)} bound"
        name = VerdictName.PARTIAL if bound else VerdictName.INCOMPLETE
        return _finding(case, name, _with_clues(case, what))
    if len(bound) == expected:
        return _finding(case, VerdictName.BOUND, _bound(case, alive))
    if bound:
        what = f"{len(bound)} of {expected} pods bound"
        return _finding(case, VerdictName.PARTIAL, _with_clues(case, what))
    return _unbound(case, alive)


def _bound(case: Case, pods: Sequence[PodHistory]) -> str:
    late = sorted(f"{pod.name} is {pod.last.facts['phase']}" for pod in pods if not pod.is_running)
    if late:
        return f"all pods bound, but {', '.join(late[:4])}"
    return "; ".join(["all pods bound and running", *problems(case)])


def _unbound(case: Case, pods: Sequence[PodHistory]) -> Finding:
    """Distinguish a gang that is refused from a gang that no scheduler handles."""
    groups = [podgroups.of(case.history, gang) for gang in case.wanted]
    messages = [podgroups.last_refusal(case.history, group) for group in groups if group]
    messages += [str(pod.last.facts.get("unschedulable") or "") for pod in pods]
    refusal = next((message for message in messages if message), None)
    if refusal is not None:
        what = f"0 of {len(pods)} pods bound: {refusal}"
        return _finding(case, VerdictName.PENDING, _with_clues(case, what))
    schedulers = sorted({str(pod.last.facts.get("scheduler")) for pod in pods})
    what = (
        f"0 of {len(pods)} pods bound, and no scheduler has handled them "
        f"(is {' or '.join(schedulers)} running?)"
    )
    return _finding(case, VerdictName.IGNORED, _with_clues(case, what))


def _absent(case: Case) -> str:
    workload, namespace = case.expectation.workload, case.expectation.namespace
    if any(one.name == workload.name for one in case.history.existing("workload")):
        return f"{workload} has no pods (is its controller running?)"
    return f"{workload} is not in namespace {namespace}"


def _with_clues(case: Case, what: str) -> str:
    if not case.expectation.gang:
        return what
    found = [clue for gang in case.wanted for clue in clues(case.history, gang)]
    return "; ".join([what, *dict.fromkeys(found)])


def _finding(case: Case, name: VerdictName, what: str) -> Finding:
    """Add the newest warning in the namespace: a controller that fails reports it there."""
    warnings = [
        event
        for event in case.history.existing("event")
        if event.last.facts.get("type") == "Warning"
        and event.last.facts.get("reason") not in _ORDINARY
    ]
    newest = max(warnings, key=lambda event: event.last.at, default=None)
    told = () if newest is None else (event_text(newest),)
    evidence = (f"{case.end:.1f} s passed without {case.expectation.verdict}", *told)
    return Finding(name, _one_line("; ".join([what, *told])), evidence, valid=False)


def event_text(event: ObjectHistory) -> str:
    """An event in one line."""
    facts = event.last.facts
    return f"{facts['object']} {facts['reason']}: {facts['message']}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
