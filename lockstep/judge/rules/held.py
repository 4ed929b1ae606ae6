"""Every gang refused as a whole, cycle after cycle, by a scheduler that works."""

from collections.abc import Mapping

from lockstep.judge import explain, limits, platform, podgroups
from lockstep.judge.case import Case, fail, unproven
from lockstep.judge.history import ObjectHistory, ObservedGang
from lockstep.judge.model import Finding, RecheckAt
from lockstep.kube import quantity
from lockstep.recording.facts import BLOCKING
from lockstep.scenarios.verdicts import VerdictName


def held(case: Case) -> Finding | RecheckAt | None:
    """Find `held`; when something else was expected, only after a longer time."""
    gangs = [gang for gang in case.gangs if gang in case.wanted or gang.alive]
    if any(len(gang.alive) != gang.size or gang.bound for gang in gangs):
        return None
    since = case.history.last_change()
    is_expected = case.expectation.verdict == VerdictName.HELD
    if not is_expected and case.end - since < limits.PATIENCE:
        return RecheckAt(since + limits.PATIENCE)
    evidence = [f"0 of {case.expectation.pods} pods bound in {case.end:.1f} s"]
    for gang in gangs:
        shown = refusal_of(case, gang, since)
        if not isinstance(shown, str):
            return shown
        evidence.append(shown)
    if problems := explain.problems(case):
        return fail(VerdictName.MISMATCHED, *problems, evidence=tuple(evidence))
    if is_expected and (missing := _no_room(case)):
        return unproven(missing)
    return Finding(VerdictName.HELD, "; ".join(evidence[:2]), tuple(evidence))


def _no_room(case: Case) -> str:
    """Why the gang would not be bound by any scheduler; empty if a part of it fits.

    Without room for a part, the gang shows nothing about all-or-nothing.
    """
    history, requests = case.history, case.expectation.requests
    if why := history.recording.header.missing.get("node"):
        return f"whether a part of the gang fits is not known: {why}"
    nodes = history.existing("node")
    if any(_takes_a_pod(node, requests) for node in nodes):
        return ""
    return f"no worker has room for a pod of the gang: none of {len(nodes)} is free and unblocked"


def _takes_a_pod(node: ObjectHistory, requests: Mapping[str, str]) -> bool:
    """Whether a pod may be bound to a node and fits on it."""
    facts = node.last.facts
    blocked = any(taint.get("effect") in BLOCKING for taint in facts.get("taints") or ())
    return not (blocked or facts.get("unschedulable")) and all(
        quantity.parse(str(facts[name])) >= quantity.parse(amount)
        for name, amount in requests.items()
        if name in facts
    )


def refusal_of(case: Case, gang: ObservedGang, since: float) -> str | RecheckAt | None:
    """How the scheduler refused a gang several times since the last change, in words."""
    history = case.history
    group = podgroups.of(history, gang)
    if group is None:
        return None
    message = podgroups.last_refusal(history, group)
    cycles = podgroups.refused_cycles(history, group, gang.size, since)
    if cycles >= limits.CYCLES:
        return f"PodGroup {group.name} was Unschedulable in {cycles} scheduling cycles: {message}"
    if not podgroups.refusals_ran_out(history, group):
        return None
    quiet = max(since, group.first.at) + limits.STABLE
    if case.end < quiet:
        return RecheckAt(quiet)
    sessions = platform.sessions_since(history, since)
    if sessions is not None and sessions < limits.CYCLES:
        return RecheckAt(case.end + limits.SETTLE)
    return f"PodGroup {group.name} stayed Unschedulable after many earlier cycles: {message}"
