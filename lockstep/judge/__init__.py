"""The judge: pure functions from a recording to a verdict.

`assess` is for a recording that still grows: it may ask for more. `conclude` is for the deadline:
it says what was seen. Adding a verdict means adding its rules to `rules.RULES`.
"""

from __future__ import annotations

from lockstep.errors import LockstepError
from lockstep.judge import explain as conclusion
from lockstep.judge import measures, podgroups
from lockstep.judge.case import Case
from lockstep.judge.model import Expectation, Finding, Limits, RecheckAt, Verdict, Workload
from lockstep.judge.rules import RULES
from lockstep.recording.model import Recording

__all__ = [
    "Expectation",
    "Limits",
    "RecheckAt",
    "Verdict",
    "Workload",
    "assess",
    "conclude",
    "judge",
]

DEFAULT = Limits()


def judge(
    recording: Recording, expectation: Expectation, limits: Limits = DEFAULT
) -> Verdict | None:
    """Decide, or None when more must be seen first."""
    answer = assess(recording, expectation, limits)
    return answer if isinstance(answer, Verdict) else None


def assess(
    recording: Recording, expectation: Expectation, limits: Limits = DEFAULT
) -> Verdict | RecheckAt | None:
    """Decide, or say when to look again even if nothing new is seen until then."""
    return _apply_rules(Case.of(recording, expectation, limits))


def conclude(recording: Recording, expectation: Expectation, limits: Limits = DEFAULT) -> Verdict:
    """Decide now: what is there is what was observed."""
    case = Case.of(recording, expectation, limits, final=True)
    decided = _apply_rules(case)
    return decided if isinstance(decided, Verdict) else _verdict(case, conclusion.state(case))


def _apply_rules(case: Case) -> Verdict | RecheckAt | None:
    expectation = case.expectation
    if expectation.verdict not in RULES:
        raise LockstepError(
            f"there is no verdict {expectation.verdict!r}; use one of: {', '.join(sorted(RULES))}"
        )
    soonest: RecheckAt | None = None
    for rule in RULES[expectation.verdict]:
        answer = rule(case)
        if isinstance(answer, Finding):
            return _verdict(case, answer)
        if answer and (soonest is None or answer.at < soonest.at):
            soonest = answer
    return soonest


def _verdict(case: Case, finding: Finding) -> Verdict:
    expectation = case.expectation
    ok = finding.valid and finding.observed == expectation.verdict
    group = podgroups.of(case.history, case.wanted[0])
    released = finding.observed == "released"
    latency = measures.release_latency(case.history, case.wanted) if released else None
    return Verdict(
        expected=expectation.verdict,
        observed=finding.observed,
        ok=ok,
        reason=finding.reason if ok else _fault(expectation, finding),
        bound=sum(len(gang.bound) for gang in case.wanted),
        size=expectation.pods,
        bind_skew_seconds=_bind_skew(case, finding),
        release_latency_seconds=latency,
        pod_group=podgroups.summary(group) if group else None,
        measures={name: round(value, 3) for name, value in finding.measures.items()},
        evidence=[*finding.evidence, *_notes(case, released, latency)],
    )


def _bind_skew(case: Case, finding: Finding) -> float | None:
    if finding.bind_skew is not None:
        return round(finding.bind_skew, 3)
    return measures.longest_bind_skew(case.history, case.wanted)


def _fault(expectation: Expectation, finding: Finding) -> str:
    return (
        f"{expectation.scenario}: expected {expectation.verdict}, "
        f"observed {finding.observed}: {finding.reason}"
    )


def _notes(case: Case, released: bool, latency: float | None) -> tuple[str, ...]:
    """State facts about the measuring itself."""
    cuts = case.history.cuts
    notes = [f"the watch of pods was cut from {cut.start:.3f} to {cut.end:.3f} s" for cut in cuts]
    freed = case.history.taint_removals()
    if released and latency is not None:
        at, node = max(freed)
        notes.append(f"{node} was freed at {at:.3f} s; the last bind came {latency:.3f} s later")
    elif released and not freed:
        notes.append("no taint went while it was watched: the free workers were enough")
    return tuple(notes)
