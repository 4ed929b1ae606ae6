"""Gangs that take turns, complete each, because of the room or because of a queue's cap."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.figures import Run
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules.torn import torn_while_binding
from lockstep.scenarios.verdicts import VerdictName


def serialized(case: Case) -> Finding | RecheckAt | None:
    """Find `serialized`: every gang ran, never all at once, and after each that ended another."""
    if (answer := torn_while_binding(case)) is not None:
        return answer
    runs = figures.runs(case.history, case.wanted)
    if starved := _starving(case, runs):
        is_over = case.final and bool(runs)
        return Finding(VerdictName.STARVED, starved, _evidence(case, runs)) if is_over else None
    if figures.most_at_once(runs) >= case.expectation.groups:
        return Finding(VerdictName.PLACED, "all gangs ran at once: there was room for all", ())
    if all(run.over for run in runs):
        reason = f"no gang ran after {runs[-1].key} ended at {runs[-1].end:.3f} s"
        return Finding(VerdictName.STALLED, reason, _evidence(case, runs)) if case.final else None
    return _mismatch(case, runs) or _serialized(case, runs)


def _starving(case: Case, runs: Sequence[Run]) -> str:
    """Name the gangs that never ran, in a clause; empty if each did."""
    ran = {run.key for run in runs if run.ran}
    never = [gang.key for gang in case.wanted if gang.key not in ran]
    if not never:
        return ""
    return f"{len(ran)} of {len(case.wanted)} gangs ran; {', '.join(never)} never did"


def _mismatch(case: Case, runs: Sequence[Run]) -> Finding | RecheckAt | None:
    """Find PodGroups that are not as expected, once the watches had time to catch up."""
    problems = podgroups.problems(case)
    if not problems:
        return None
    newest = max(pod.last.at for gang in case.wanted for pod in gang.pods)
    settled = newest + limits.SETTLE
    if case.end < settled and not case.final:
        return RecheckAt(settled)
    return fail(VerdictName.MISMATCHED, *problems, evidence=_evidence(case, runs))


def _serialized(case: Case, runs: Sequence[Run]) -> Finding:
    measures = figures.crowd_figures(case.history, case.wanted, runs)
    skew = figures.longest_run_skew(case.history, runs)
    handover = max(figures.handovers(runs), default=0.0)
    done, most = measures["gangsCompleted"], measures["gangsAtOnce"]
    what = (
        f"{done:.0f} gangs completed, never more than {most:.0f} at once and never a part of one; "
        f"each of {len(case.wanted)} ran, after {measures['longestWaitSeconds']:.1f} s at most"
    )
    facts = [
        *_evidence(case, runs),
        f"the next gang was completely bound at most {handover:.3f} s after one ended",
        f"pods held their places for {measures['podSecondsUseful']:.1f} pod-seconds in complete "
        f"gangs, for {measures['podSecondsWasted']:.1f} in gangs that were not complete yet, and "
        f"for {measures['podSecondsEnding']:.1f} in gangs that ended",
    ]
    measures["longestHandoverSeconds"] = handover
    return Finding(VerdictName.SERIALIZED, what, tuple(facts), measures=measures, bind_skew=skew)


def _evidence(case: Case, runs: Sequence[Run]) -> tuple[str, ...]:
    """When each gang ran, and which never did."""
    lines = []
    for run in runs:
        until = f"{run.end:.3f} s" if run.over else "the end"
        waited = (
            f"after a wait of {run.wait:.3f} s"
            if run.exactly_bound
            else "and already before the recording"
        )
        lines.append(f"{run.key} was complete from {run.start:.3f} s to {until}, {waited}")
    never = _starving(case, runs)
    return (*lines, never) if never else tuple(lines)


def capped(case: Case) -> Finding | RecheckAt | None:
    """Find `capped`: as many gangs at once as the queue admits, never more, and a reason given."""
    if (answer := torn_while_binding(case)) is not None:
        return answer
    runs = figures.runs(case.history, case.wanted)
    cap = case.expectation.at_once or 0
    places, _ = figures.most_places(case.wanted)
    allowed = cap * case.expectation.size
    if places > allowed:
        what = f"{places} pods held a place at once in a queue that admits {allowed}"
        return Finding(VerdictName.EXCEEDED, what, _evidence(case, runs))
    if wrong := _wrong_queue(case):
        return fail(VerdictName.MISMATCHED, wrong, evidence=_evidence(case, runs))
    if missing := _missing(case, runs, cap):
        is_over = case.final and bool(runs)
        return Finding(VerdictName.STARVED, missing, _evidence(case, runs)) if is_over else None
    return _mismatch(case, runs) or _capped(case, runs, cap)


def _wrong_queue(case: Case) -> str:
    """Name a PodGroup that is in another queue."""
    wanted = case.expectation.queue
    for gang in case.wanted:
        group = podgroups.of(case.history, gang)
        if group and group.last.facts.get("queue") != wanted:
            found = group.last.facts.get("queue")
            return f"PodGroup {group.name} is in queue {found}, not {wanted}"
    return ""


def _missing(case: Case, runs: Sequence[Run], cap: int) -> str:
    """What has not been observed yet."""
    if never := _starving(case, runs):
        return never
    most = figures.most_at_once(runs)
    if most < cap:
        return f"only {most} of the {cap} gangs that the queue admits ran at once"
    return "" if _refusal(case) else "no event says that the queue kept a gang waiting"


def _refusal(case: Case) -> str:
    """Volcano's event that says that a gang waits because of its queue."""
    for event in case.history.all("event"):
        facts = event.last.facts
        about_group = str(facts.get("object")).startswith("PodGroup/")
        if about_group and str(facts.get("message")).startswith("queue "):
            return explain.event_text(event)
    return ""


def _capped(case: Case, runs: Sequence[Run], cap: int) -> Finding:
    total = len(case.wanted)
    what = (
        f"never more than {cap} of {total} gangs ran at once, though there was room for all; "
        f"each of {total} ran"
    )
    facts = [f"queue {case.expectation.queue} admits {cap} gangs", _refusal(case)]
    _, places = figures.most_places(case.wanted)
    if places > cap * case.expectation.size:
        facts.append(
            f"while a gang ended, {places} pods held a place: Volcano counts a queue by its "
            "PodGroups, and the gang's PodGroup was deleted before its last pods"
        )
    return Finding(
        VerdictName.CAPPED,
        what,
        (*facts, *_evidence(case, runs)),
        measures=figures.crowd_figures(case.history, case.wanted, runs),
        bind_skew=figures.longest_run_skew(case.history, runs),
    )
