"""What was there when time ran out, and the likeliest cause that the recording shows."""

from __future__ import annotations

from lockstep.judge import clues, podgroups
from lockstep.judge.case import Case
from lockstep.judge.history import Life
from lockstep.judge.model import Finding

# Told by their own rules, with the gang that they are about.
_ORDINARY = ("Unschedulable", "FailedScheduling")
_LONGEST = 300


def state(case: Case) -> Finding:
    """Name the state at the end."""
    expected = case.expectation.pods
    alive = [pod for gang in case.wanted for pod in gang.alive]
    bound = [pod for pod in alive if pod.bound]
    if not alive:
        return _finding(case, "absent", _absent(case))
    if len(alive) != expected:
        what = f"{len(alive)} of {expected} pods exist, {len(bound)} bound"
        return _finding(case, "partial" if bound else "incomplete", _because(case, what))
    if len(bound) == expected:
        late = [f"{pod.name} is {pod.last.facts['phase']}" for pod in alive if not pod.is_running]
        return _finding(case, "bound", f"all pods bound, but {', '.join(sorted(late)[:4])}")
    if bound:
        what = f"{len(bound)} of {expected} pods bound"
        return _finding(case, "partial", _because(case, what))
    return _unbound(case)


def _unbound(case: Case) -> Finding:
    """Tell a gang that is refused from one that no scheduler looks at."""
    pods = [pod for gang in case.wanted for pod in gang.alive]
    groups = [podgroups.of(case.history, gang) for gang in case.wanted]
    messages = [podgroups.last_refusal(case.history, group) for group in groups if group]
    messages += [str(pod.last.facts.get("unschedulable") or "") for pod in pods]
    told = next((message for message in messages if message), None)
    if told is not None:
        what = f"0 of {len(pods)} pods bound: {told}"
        return _finding(case, "pending", _because(case, what))
    schedulers = sorted({str(pod.last.facts.get("scheduler")) for pod in pods})
    what = (
        f"0 of {len(pods)} pods bound, and no scheduler has looked at them "
        f"(is {' or '.join(schedulers)} running?)"
    )
    return _finding(case, "ignored", _because(case, what))


def _absent(case: Case) -> str:
    workload, namespace = case.expectation.workload, case.expectation.namespace
    if any(life.name == workload.name for life in case.history.living("workload")):
        return f"{workload} made no pods (is its controller running?)"
    return f"{workload} is not in namespace {namespace}"


def _because(case: Case, what: str) -> str:
    if not case.expectation.gang:
        return what
    found = [clue for gang in case.wanted for clue in clues.about(case.history, gang)]
    return "; ".join([what, *dict.fromkeys(found)])


def _finding(case: Case, name: str, what: str) -> Finding:
    """Add the newest warning in the namespace: a controller that fails says so there."""
    warnings = [
        event
        for event in case.history.living("event")
        if event.last.facts.get("type") == "Warning"
        and event.last.facts.get("reason") not in _ORDINARY
    ]
    newest = max(warnings, key=lambda event: event.last.at, default=None)
    told = () if newest is None else (_message(newest),)
    evidence = (f"{case.end:.1f} s passed without {case.expectation.verdict}", *told)
    return Finding(name, _one_line("; ".join([what, *told])), evidence, valid=False)


def _message(event: Life) -> str:
    facts = event.last.facts
    return f"{facts['object']} {facts['reason']}: {facts['message']}"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
