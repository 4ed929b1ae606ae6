"""Without the right to make PodGroups LWS starts nothing, says so, and goes on when it is back."""

from __future__ import annotations

from lockstep.judge import clues, notes, podgroups
from lockstep.judge import groups as generations
from lockstep.judge.case import Case
from lockstep.judge.groups import Generation
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.notes import Note
from lockstep.judge.rules.unstarted import unstarted

TAKEN, SAID, BACK = "rights taken", "LWS said", "rights back"


def refused(case: Case) -> Finding | RecheckAt | None:
    """Find `refused` once the drill is over, with LWS's error and the group that came after."""
    if not (notes.is_over(case.history) or case.final):
        return None
    known = {note.topic: note for note in notes.of(case.history)}
    if TAKEN not in known:
        return unstarted(case)
    back = known.get(BACK)
    until = back.at if back else case.end
    made = [life for gang in case.wanted for life in generations.of(gang)]
    made = [life for life in made if known[TAKEN].at < life.began <= until]
    if not made:
        what = f"LWS made no new leader within {until - known[TAKEN].at:.1f} s"
        return Finding("lost", what, (what,), valid=False)
    group = made[-1]
    if problem := _problem(case, group, known, until):
        return problem
    if back is None or not group.whole:
        what = f"{group.key} was not made whole when LWS had its rights back"
        return Finding("stuck", what, (what,), valid=False)
    if problems := podgroups.problems(case):
        return Finding("mismatched", "; ".join(problems), tuple(problems), valid=False)
    return _finding(case, group, known)


def _problem(case: Case, group: Generation, known: dict[str, Note], until: float) -> Finding | None:
    """Find what should not have started, or an error that was never told."""
    owned = generations.owned(case.history, group, until)
    if owned is not None:
        what = f"LWS made PodGroup {owned.name} without the right that was taken"
        return Finding("allowed", what, (what,), valid=False)
    bound = [pod for pod in group.pods if pod.bound and pod.bound.at <= until]
    if bound:
        what = f"{clues.names(bound)} bound without a PodGroup"
        return Finding("unmanaged", what, (what,), valid=False)
    if SAID not in known:
        what = "LWS told nobody why it makes no PodGroup"
        return Finding("silent", what, (what,), valid=False)
    return None


def _finding(case: Case, group: Generation, known: dict[str, Note]) -> Finding:
    away = known[BACK].at - group.began
    took = (group.whole_at or case.end) - known[BACK].at
    workers = [pod for pod in group.workers if pod.first.at <= known[BACK].at]
    return Finding(
        "refused",
        f"without the right to make PodGroups nothing started in {away:.1f} s; with it, the group "
        f"was whole {took:.1f} s later",
        (
            f"LWS: {known[SAID].detail}",
            f"{group.leader.name} waited {away:.1f} s, not bound, without a PodGroup and with "
            f"{len(workers)} workers",
            f"rights back: {group.key} whole after {took:.1f} s, under a PodGroup of its leader",
        ),
        measures={"refusedSeconds": away, "recoverySeconds": took},
    )
