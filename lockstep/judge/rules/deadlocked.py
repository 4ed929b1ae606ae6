"""More pods than room, and nothing that keeps gangs whole: each has a part, and none can run."""

from __future__ import annotations

from lockstep.judge import clues, podgroups
from lockstep.judge import figures as gang_runs
from lockstep.judge.case import Case
from lockstep.judge.history import Gang, Pod
from lockstep.judge.model import Finding, RecheckAt

_SEVERAL = 2


def deadlocked(case: Case) -> Finding | RecheckAt | None:
    """Find `deadlocked`: several gangs partly bound, none whole, and no pod gets in any more."""
    runs = gang_runs.of(case.history, case.wanted)
    if runs:
        ran = ", ".join(dict.fromkeys(run.key for run in runs))
        figures = gang_runs.figures(case.history, case.wanted, runs)
        return Finding("progressed", f"{ran} ran whole", measures=figures)
    bound = [pod for gang in case.wanted for pod in gang.bound]
    refused = [pod for gang in case.wanted for pod in gang.alive if not pod.bound]
    if not _stuck(case, refused):
        return None
    lasting = max(pod.bound.at for pod in bound if pod.bound) + case.limits.stable
    if case.end < lasting:
        return RecheckAt(lasting)
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), _evidence(case, refused), valid=False)
    figures = gang_runs.figures(case.history, case.wanted, runs)
    what = (
        f"{len(_parts(case))} gangs hold {len(bound)} places and none of them is whole: "
        f"{figures['podSecondsWasted']:.1f} pod-seconds wasted in {_held_for(case, bound):.1f} s"
    )
    return Finding("deadlocked", what, _evidence(case, refused), measures=figures)


def _parts(case: Case) -> list[Gang]:
    return [gang for gang in case.wanted if gang.bound]


def _stuck(case: Case, refused: list[Pod]) -> bool:
    """Whether all pods are there, several gangs have a part, and all other pods are refused."""
    return (
        all(len(gang.alive) == gang.size for gang in case.wanted)
        and len(_parts(case)) >= _SEVERAL
        and bool(refused)
        and all(pod.last.facts.get("unschedulable") for pod in refused)
    )


def _held_for(case: Case, bound: list[Pod]) -> float:
    return case.end - min(pod.bound.at for pod in bound if pod.bound)


def _evidence(case: Case, refused: list[Pod]) -> tuple[str, ...]:
    shares = [
        f"{gang.key}: {len(gang.bound)} of {gang.size} pods bound"
        + (f" ({clues.names(gang.bound)})" if gang.bound else "")
        for gang in case.wanted
    ]
    return (
        *shares,
        f"refused: {clues.names(refused)}",
        f"because: {refused[0].last.facts['unschedulable']}",
    )
