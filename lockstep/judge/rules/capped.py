"""A queue that admits fewer gangs than there is room for: the cap holds, and all get their turn."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import figures as gang_runs
from lockstep.judge import podgroups
from lockstep.judge.case import Case
from lockstep.judge.figures import Run
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules.serialized import evidence, mismatch, starving
from lockstep.judge.rules.slow import slow


def capped(case: Case) -> Finding | RecheckAt | None:
    """Find `capped`: as many gangs at once as the queue admits, never more, and a reason given."""
    if (answer := slow(case)) is not None:
        return answer
    runs = gang_runs.of(case.history, case.wanted)
    most, cap = gang_runs.most_at_once(runs), case.expectation.at_once or 0
    places, _ = gang_runs.most_places(case.wanted)
    allowed = cap * case.expectation.size
    if places > allowed:
        what = f"{places} pods held a place at once in a queue that admits {allowed}"
        return Finding("exceeded", what, evidence(case, runs))
    if astray := _astray(case):
        return Finding("mismatched", astray, evidence(case, runs), valid=False)
    if missing := _missing(case, runs, most, cap):
        return Finding("starved", missing, evidence(case, runs)) if case.final and runs else None
    return mismatch(case, runs) or _finding(case, runs, cap)


def _astray(case: Case) -> str:
    """Name a PodGroup that is in another queue."""
    wanted = case.expectation.queue
    for gang in case.wanted:
        group = podgroups.of(case.history, gang)
        found = group.last.facts.get("queue") if group else wanted
        if group and found != wanted:
            return f"PodGroup {group.name} is in queue {found}, not {wanted}"
    return ""


def _missing(case: Case, runs: Sequence[Run], most: int, cap: int) -> str:
    """Say what has not been seen yet."""
    if never := starving(case, runs):
        return never
    if most < cap:
        return f"only {most} of the {cap} gangs that the queue admits ran at once"
    return "" if _refusal(case) else "nothing says that the queue kept a gang waiting"


def _refusal(case: Case) -> str:
    """Volcano's word that a gang waits because of its queue."""
    for event in case.history.lives.get("event", ()):
        facts = event.last.facts
        about_group = str(facts.get("object")).startswith("PodGroup/")
        if about_group and str(facts.get("message")).startswith("queue "):
            return f"{facts['object']} {facts['reason']}: {facts['message']}"
    return ""


def _finding(case: Case, runs: Sequence[Run], cap: int) -> Finding:
    figures = gang_runs.figures(case.history, case.wanted, runs)
    total = len(case.wanted)
    what = (
        f"never more than {cap} of {total} gangs ran at once, though there was room for all; "
        f"each of {total} ran"
    )
    facts = [f"queue {case.expectation.queue} admits {cap} gangs", _refusal(case)]
    _, places = gang_runs.most_places(case.wanted)
    if places > cap * case.expectation.size:
        facts.append(
            f"while a gang ended, {places} pods held a place: Volcano counts a queue by its "
            "PodGroups, and that of the gang went before its last pods"
        )
    return Finding(
        "capped",
        what,
        (*facts, *evidence(case, runs)),
        measures=figures,
        bind_skew=gang_runs.longest_bind_skew(case.history, runs),
    )
