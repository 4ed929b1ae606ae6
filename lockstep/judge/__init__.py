"""The judge: pure functions from a recording to a verdict.

`assess` is for a recording that still grows: it may ask for more. `conclude` is for the deadline:
it names the state that was observed. Adding a verdict means adding its rules to `rules.RULES`.
"""

from typing import Any

from lockstep.errors import LockstepError
from lockstep.judge import explain, figures, platform, podgroups, proof
from lockstep.judge.case import Case
from lockstep.judge.case import unproven as unproven_finding
from lockstep.judge.model import Expectation, Finding, RecheckAt, Verdict, Workload
from lockstep.judge.rules import RULES
from lockstep.recording.model import Recording
from lockstep.scenarios.verdicts import VerdictName

__all__ = [
    "Expectation",
    "RecheckAt",
    "Verdict",
    "Workload",
    "assess",
    "conclude",
    "judge",
    "needs_new_pods",
    "unproven",
]


_HOLD_AGAIN = "raise taintedWorkers and update, so that the gang is held, then lower it again"


def judge(recording: Recording, expectation: Expectation) -> Verdict | None:
    """Return the verdict, or None when more must be observed first."""
    answer = assess(recording, expectation)
    return answer if isinstance(answer, Verdict) else None


def assess(recording: Recording, expectation: Expectation) -> Verdict | RecheckAt | None:
    """Return the verdict, or when to assess again even if nothing new is observed."""
    return _apply_rules(Case.of(recording, expectation))


def conclude(recording: Recording, expectation: Expectation) -> Verdict:
    """Return the verdict on a recording that is at its end."""
    case = Case.of(recording, expectation, final=True)
    decided = _apply_rules(case)
    return decided if isinstance(decided, Verdict) else _verdict(case, explain.final_state(case))


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
            if _is_expected(case, answer):
                answer = proof.objection(case) or answer
            if isinstance(answer, Finding):
                return _verdict(case, answer)
        if answer and (soonest is None or answer.at < soonest.at):
            soonest = answer
    return soonest


def _is_expected(case: Case, finding: Finding) -> bool:
    return finding.valid and finding.observed == case.expectation.verdict


def unproven(recording: Recording, expectation: Expectation, reason: str) -> Verdict:
    """Return the verdict on a recording that cannot be trusted to its end."""
    return _verdict(Case.of(recording, expectation), unproven_finding(reason))


def needs_new_pods(recording: Recording, expectation: Expectation, verdict: Verdict) -> bool:
    """Whether a verdict only failed as the pods are older than the recording.

    A gang that was partly bound is no such case: it has shown that nothing held it together.
    """
    case = Case.of(recording, expectation)
    may_be_due_to_age = verdict.observed in (VerdictName.UNPROVEN, VerdictName.PLACED)
    can_be_repeated = expectation.verdict in (*proof.FROM_CREATION, VerdictName.HELD)
    return may_be_due_to_age and can_be_repeated and not verdict.ok and bool(proof.old_pods(case))


def _verdict(case: Case, finding: Finding) -> Verdict:
    expectation = case.expectation
    ok = _is_expected(case, finding)
    group = podgroups.of(case.history, case.wanted[0])
    latency, release_note = _release(case, finding)
    skew = finding.bind_skew
    if skew is None:
        skew = figures.longest_bind_skew(case.wanted)
    failure = (
        f"{expectation.scenario}: expected {expectation.verdict}, "
        f"observed {finding.observed}: {finding.reason}"
    )
    if expectation.verdict == VerdictName.RELEASED:
        failure += f"; for a new proof, {_HOLD_AGAIN}"
    interruptions = [
        f"the watch of pods was cut from {cut.start:.3f} to {cut.end:.3f} s"
        for cut in case.history.cuts
    ]
    return Verdict(
        expected=expectation.verdict,
        observed=finding.observed,
        ok=ok,
        reason=finding.reason if ok else failure,
        bound=sum(len(gang.bound) for gang in case.wanted),
        size=expectation.pods,
        bind_skew_seconds=None if skew is None else round(skew, 3),
        release_latency_seconds=latency,
        pod_group=podgroups.summary(group) if group else None,
        measures={name: round(value, 3) for name, value in finding.measures.items()},
        platform=_platform(case),
        evidence=[*finding.evidence, *interruptions, *release_note],
    )


def _platform(case: Case) -> dict[str, Any] | None:
    ran = platform.scheduler(case.history) if case.expectation.gang else None
    return {"scheduler": ran} if ran else None


def _release(case: Case, finding: Finding) -> tuple[float | None, list[str]]:
    """The release latency of a released gang, and how it was measured."""
    if finding.observed != VerdictName.RELEASED:
        return None, []
    measured = figures.release(case.history, case.wanted)
    if measured is None:
        return None, []
    at, node, seconds = measured
    note = f"{node} was unblocked at {at:.3f} s; the last bind came {seconds:.3f} s later"
    return round(seconds, 3), [note]
