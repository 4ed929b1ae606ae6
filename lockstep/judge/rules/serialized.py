"""More gangs than fit: complete gangs run, one after the other, and each gets its turn."""

from collections.abc import Sequence

from lockstep.judge import figures, limits, podgroups
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
    if starved := starving(case, runs):
        is_over = case.final and bool(runs)
        return Finding(VerdictName.STARVED, starved, evidence(case, runs)) if is_over else None
    if figures.most_at_once(runs) >= case.expectation.groups:
        return Finding(VerdictName.PLACED, "all gangs ran at once: there was room for all", ())
    if all(run.over for run in runs):
        reason = f"no gang ran after {runs[-1].key} ended at {runs[-1].end:.3f} s"
        return Finding(VerdictName.STALLED, reason, evidence(case, runs)) if case.final else None
    return mismatch(case, runs) or _finding(case, runs)


def starving(case: Case, runs: Sequence[Run]) -> str:
    """Name the gangs that never ran, in a clause; empty if each did."""
    ran = {run.key for run in runs if run.ran}
    never = [gang.key for gang in case.wanted if gang.key not in ran]
    if not never:
        return ""
    return f"{len(ran)} of {len(case.wanted)} gangs ran; {', '.join(never)} never did"


def mismatch(case: Case, runs: Sequence[Run]) -> Finding | RecheckAt | None:
    """Find PodGroups that are not as expected, once LWS had time to recreate the last group."""
    problems = podgroups.problems(case)
    if not problems:
        return None
    newest = max(pod.last.at for gang in case.wanted for pod in gang.pods)
    settled = newest + limits.EVENTS
    if case.end < settled and not case.final:
        return RecheckAt(settled)
    return fail(VerdictName.MISMATCHED, *problems, evidence=evidence(case, runs))


def _finding(case: Case, runs: Sequence[Run]) -> Finding:
    measures = figures.crowd_figures(case.history, case.wanted, runs)
    skew = figures.longest_run_skew(case.history, runs)
    handover = max(figures.handovers(runs), default=0.0)
    done, most = measures["gangsCompleted"], measures["gangsAtOnce"]
    what = (
        f"{done:.0f} gangs completed, never more than {most:.0f} at once and never a part of one; "
        f"each of {len(case.wanted)} ran, after {measures['longestWaitSeconds']:.1f} s at most"
    )
    facts = [
        *evidence(case, runs),
        f"the next gang was completely bound at most {handover:.3f} s after one ended",
        f"pods held their places for {measures['podSecondsUseful']:.1f} pod-seconds in complete "
        f"gangs, for {measures['podSecondsWasted']:.1f} in gangs that were not complete yet, and "
        f"for {measures['podSecondsEnding']:.1f} in gangs that ended",
    ]
    measures["longestHandoverSeconds"] = handover
    return Finding(VerdictName.SERIALIZED, what, tuple(facts), measures=measures, bind_skew=skew)


def evidence(case: Case, runs: Sequence[Run]) -> tuple[str, ...]:
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
    never = starving(case, runs)
    return (*lines, never) if never else tuple(lines)
