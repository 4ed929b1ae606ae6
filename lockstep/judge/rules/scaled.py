"""As many groups as asked for, each whole, and exactly their PodGroups."""

from __future__ import annotations

from lockstep.judge import groups as generations
from lockstep.judge import notes, podgroups
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.notes import Phase
from lockstep.judge.rules.unstarted import unstarted

TOPIC = "scale to groups"


def scaled(case: Case) -> Finding | RecheckAt | None:
    """Find `scaled` once the drill is over, or the first step that was not followed."""
    if not (notes.is_over(case.history) or case.final):
        return None
    phases = notes.phases(case.history, (TOPIC,))
    if not phases:
        return unstarted(case)
    evidence: list[str] = []
    measures: dict[str, float] = {}
    for phase in phases:
        wanted = int(phase.note.detail)
        standing = generations.standing(case.gangs, phase.end)
        if problem := _problem(case, phase, wanted, standing):
            what = f"scaled to {wanted}: {problem}"
            return Finding("strayed", what, (*evidence, what), valid=False)
        seconds = _settled(case, phase, standing) - phase.note.at
        measures[f"scaleTo{wanted}Seconds"] = seconds
        names = ", ".join(sorted(group.key for group in standing))
        evidence.append(
            f"{wanted} asked for: after {seconds:.1f} s {names} whole, each with a PodGroup of its "
            "leader, and no other"
        )
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(problems), valid=False)
    return _finding(case, phases, evidence, measures)


def _finding(
    case: Case, phases: list[Phase], evidence: list[str], measures: dict[str, float]
) -> Finding:
    steps = " → ".join(phase.note.detail for phase in phases)
    skew = generations.longest_binding(_lives(case), case.end)
    return Finding(
        "scaled",
        f"groups {steps}, PodGroups followed exactly",
        (*evidence, f"no group was bound in part for longer than {skew:.3f} s"),
        measures=measures,
        bind_skew=skew,
    )


def _lives(case: Case) -> list[Generation]:
    return [life for gang in case.gangs for life in generations.of(gang)]


def _problem(case: Case, phase: Phase, wanted: int, standing: list[Generation]) -> str:
    """Say what is wrong at the end of a step, in a clause."""
    if len(standing) != wanted:
        return f"{len(standing)} whole groups"
    slow = generations.slow_binding(case.history, _lives(case), case.limits.burst)
    if slow is not None:
        group, burst = slow
        return f"{group.key} was bound in part for {burst.end - burst.start:.1f} s"
    extra = [
        pod.name
        for gang in case.gangs
        for pod in gang.pods
        if pod.first.at <= phase.end and not (pod.gone and pod.last.at <= phase.end)
    ]
    if len(extra) != wanted * case.expectation.size:
        return f"{len(extra)} pods, not {wanted} x {case.expectation.size}"
    return "; ".join(generations.strays(case.history, standing, phase.end))


def _settled(case: Case, phase: Phase, standing: list[Generation]) -> float:
    """When the last group asked for was whole and the last PodGroup not asked for was gone."""
    since = phase.note.at
    times = [group.whole_at for group in standing if group.whole_at and group.whole_at > since]
    gone = [
        life.last.at
        for kind in ("pod", "podgroup")
        for life in case.history.lives.get(kind, ())
        if life.gone and since < life.last.at <= phase.end
    ]
    return max([*times, *gone], default=since)
