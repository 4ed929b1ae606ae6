"""More gangs than room: whole ones run, one after the other, and each gets its turn."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import figures as gang_runs
from lockstep.judge import podgroups
from lockstep.judge.case import Case
from lockstep.judge.figures import Run
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules import slow


def serialized(case: Case) -> Finding | RecheckAt | None:
    """Find `serialized`: every gang ran, never all at once, and after each that ended another."""
    if (answer := slow.slow(case)) is not None:
        return answer
    runs = gang_runs.of(case.history, case.wanted)
    if starved := starving(case, runs):
        return Finding("starved", starved, evidence(case, runs)) if case.final and runs else None
    if gang_runs.most_at_once(runs) >= case.expectation.groups:
        return Finding("placed", "all gangs ran at once: there was room for all", ())
    if all(run.over for run in runs):
        reason = f"nothing runs since {runs[-1].key} ended at {runs[-1].end:.3f} s"
        return Finding("stalled", reason, evidence(case, runs)) if case.final else None
    wrong = mismatch(case, runs)
    return wrong or _finding(case, runs)


def starving(case: Case, runs: Sequence[Run]) -> str:
    """Name the gangs that never ran."""
    ran = {run.key for run in runs if run.running}
    never = [gang.key for gang in case.wanted if gang.key not in ran]
    if not never:
        return ""
    return f"{len(ran)} of {len(case.wanted)} gangs ran; {', '.join(never)} never did"


def mismatch(case: Case, runs: Sequence[Run]) -> Finding | RecheckAt | None:
    """Find PodGroups that are not as they should be, once the watches are in step."""
    problems = podgroups.problems(case)
    if not problems:
        return None
    newest = max(pod.last.at for gang in case.wanted for pod in gang.pods)
    settled = newest + case.limits.settle
    if case.end < settled:
        return RecheckAt(settled)
    return Finding("mismatched", "; ".join(problems), evidence(case, runs), valid=False)


def _finding(case: Case, runs: Sequence[Run]) -> Finding:
    figures = gang_runs.figures(case.history, case.wanted, runs)
    skew = gang_runs.longest_bind_skew(case.history, runs)
    handover = max(gang_runs.handovers(runs), default=0.0)
    done, most = figures["gangsCompleted"], figures["gangsAtOnce"]
    what = (
        f"{done:.0f} gangs completed, never more than {most:.0f} at once and never a part of one; "
        f"each of {len(case.wanted)} ran, after {figures['longestWaitSeconds']:.1f} s at most"
    )
    facts = [
        *evidence(case, runs),
        f"the next gang was whole {handover:.3f} s after one ended, at most",
        f"pods held their places for {figures['podSecondsUseful']:.1f} pod-seconds in whole gangs, "
        f"for {figures['podSecondsWasted']:.1f} in gangs that were not whole yet, and for "
        f"{figures['podSecondsEnding']:.1f} in gangs that ended",
    ]
    figures["longestHandoverSeconds"] = handover
    return Finding("serialized", what, tuple(facts), measures=figures, bind_skew=skew)


def evidence(case: Case, runs: Sequence[Run]) -> tuple[str, ...]:
    """Tell who ran when."""
    lines = []
    for run in runs:
        until = f"{run.end:.3f} s" if run.over else "the end"
        waited = f"after {run.wait:.3f} s of waiting" if run.bound_exactly else "as it did before"
        lines.append(f"{run.key} ran whole from {run.start:.3f} s to {until}, {waited}")
    return (*lines, *([never] if (never := starving(case, runs)) else []))
