"""More pods than fit, without gang scheduling: each gang is partly bound, and none can run."""

from lockstep.judge import explain, figures, limits, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.history import PodHistory, bind_times, is_split
from lockstep.judge.model import Finding, RecheckAt
from lockstep.scenarios.verdicts import VerdictName

_SEVERAL = 2


def deadlocked(case: Case) -> Finding | RecheckAt | None:
    """Find `deadlocked`: several gangs partly bound, none completely, and no further binds."""
    runs = figures.runs(case.history, case.wanted)
    measures = figures.crowd_figures(case.history, case.wanted, runs)
    if runs:
        ran = ", ".join(dict.fromkeys(run.key for run in runs))
        return Finding(VerdictName.PROGRESSED, f"{ran} was completely bound", measures=measures)
    bound = [pod for gang in case.wanted for pod in gang.bound]
    refused = [pod for gang in case.wanted for pod in gang.waiting]
    if not _is_stuck(case):
        return None
    times = bind_times(bound)
    lasting = max(times) + limits.STABLE
    if case.end < lasting:
        return RecheckAt(lasting)
    evidence = _evidence(case, refused)
    if problems := podgroups.problems(case):
        return fail(VerdictName.MISMATCHED, *problems, evidence=evidence)
    what = (
        f"{_partly_bound(case)} gangs hold {len(bound)} places and none of them is complete: "
        f"{measures['podSecondsWasted']:.1f} pod-seconds wasted in {case.end - min(times):.1f} s"
    )
    return Finding(VerdictName.DEADLOCKED, what, evidence, measures=measures)


def _partly_bound(case: Case) -> int:
    return sum(1 for gang in case.wanted if gang.bound)


def _is_stuck(case: Case) -> bool:
    """Whether all pods exist, several gangs are partly bound, and all other pods are refused."""
    gangs = case.wanted
    return (
        all(len(gang.alive) == gang.size for gang in gangs)
        and _partly_bound(case) >= _SEVERAL
        and is_split((pod for gang in gangs for pod in gang.pods), case.expectation.pods)
    )


def _evidence(case: Case, refused: list[PodHistory]) -> tuple[str, ...]:
    shares = [
        f"{gang.key}: {len(gang.bound)} of {gang.size} pods bound"
        + (f" ({explain.names(gang.bound)})" if gang.bound else "")
        for gang in case.wanted
    ]
    return (
        *shares,
        f"refused: {explain.names(refused)}",
        f"because: {refused[0].last.facts['unschedulable']}",
    )
