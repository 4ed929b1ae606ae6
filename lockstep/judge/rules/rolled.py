"""A rolling update that replaces whole groups by whole groups, and leaves no PodGroup behind."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.judge import groups as generations
from lockstep.judge import notes, podgroups
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.notes import Phase
from lockstep.judge.rules.unstarted import unstarted

TIGHT, SURGE = "update without surge", "update with surge"
_MEASURES = {TIGHT: ("updateSeconds", "groupsUp"), SURGE: ("surgeSeconds", "groupsUpWithSurge")}


@dataclass(frozen=True)
class Update:
    """One rolling update, from the change of the template to the last group of it."""

    phase: Phase
    seconds: float
    least: int
    """The fewest whole groups at any time of it."""
    most: int
    """The most groups with a bound pod at any time of it."""

    def told(self) -> str:
        """Say it in a line."""
        return (
            f"{self.phase.note.topic} ({self.phase.note.detail}): done in {self.seconds:.1f} s, "
            f"never fewer than {self.least} whole groups, never more than {self.most} bound"
        )


def rolled(case: Case) -> Finding | RecheckAt | None:
    """Find `rolled` once the drill is over, or the first thing that was not whole."""
    if not (notes.is_over(case.history) or case.final):
        return None
    phases = notes.phases(case.history, (TIGHT, SURGE))
    if not phases:
        return unstarted(case)
    updates: list[Update] = []
    for phase in phases:
        answer = _update(case, phase)
        if isinstance(answer, str):
            what = f"{phase.note.topic}: {answer}"
            return Finding("strayed", what, (*(u.told() for u in updates), what), valid=False)
        updates.append(answer)
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(problems), valid=False)
    return _finding(case, updates)


def _finding(case: Case, updates: list[Update]) -> Finding:
    skew = generations.longest_binding(_lives(case), case.end)
    measures: dict[str, float] = {}
    for update in updates:
        seconds, groups = _MEASURES[update.phase.note.topic]
        measures |= {seconds: update.seconds, groups: update.least}
    partial = f"no group of either revision was bound in part for longer than {skew:.3f} s"
    return Finding(
        "rolled",
        f"{len(updates)} rolling updates of {case.expectation.groups} groups, each replaced whole",
        (*(update.told() for update in updates), partial, "no PodGroup was left over"),
        measures=measures,
        bind_skew=skew,
    )


def _lives(case: Case) -> list[Generation]:
    return [life for gang in case.gangs for life in generations.of(gang)]


def _update(case: Case, phase: Phase) -> Update | str:
    """Follow one update; say in a clause what is wrong with it."""
    history, groups = case.history, case.expectation.groups
    lives = _lives(case)
    if mixed := [life.key for life in lives if len(_revisions(life)) > 1]:
        return f"{mixed[0]} had pods of two revisions"
    slow = generations.slow_binding(history, lives, case.limits.burst)
    if slow is not None:
        group, burst = slow
        return f"{group.key} was bound in part for {burst.end - burst.start:.1f} s"
    standing = generations.standing(case.gangs, phase.end)
    new = [life for life in standing if life.began > phase.note.at]
    if len(new) != groups or len(standing) != groups:
        return f"{len(new)} of {groups} groups are new and whole, of {len(standing)} that stand"
    if len({life.revision for life in new}) > 1:
        return "the new groups are of different revisions"
    if stray := generations.strays(history, standing, phase.end):
        return "; ".join(stray)
    done = max(life.whole_at or phase.end for life in new)
    extra = [life for life in lives if life.key not in {g.key for g in case.wanted}]
    surged = [life for life in extra if phase.note.at < life.began <= phase.end]
    if surged and phase.note.topic == TIGHT:
        return f"{surged[0].key} was made, though nothing may be extra"
    times = [phase.note.at, *_turns(lives, phase.note.at, done)]
    return Update(
        phase,
        done - phase.note.at,
        least=min(len(generations.standing(case.gangs, at)) for at in times),
        most=max(sum(1 for life in lives if _is_bound(life, at)) for at in times),
    )


def _revisions(life: Generation) -> set[str | None]:
    return {pod.first.facts.get("revision") for pod in life.pods if pod.bound}


def _turns(lives: list[Generation], start: float, end: float) -> list[float]:
    """The times at which a pod began to run, was bound or left."""
    seen = [s for life in lives for p in life.pods for s in (p.running, p.bound, p.leaving) if s]
    return sorted({one.at for one in seen if start < one.at <= end})


def _is_bound(life: Generation, at: float) -> bool:
    return any(
        pod.bound and pod.bound.at <= at and not (pod.leaving and pod.leaving.at <= at)
        for pod in life.pods
    )
