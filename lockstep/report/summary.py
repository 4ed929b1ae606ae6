"""The answer to the first question: whether gang scheduling is all-or-nothing here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from lockstep.report import figures
from lockstep.report.lanes import gang_lanes
from lockstep.report.receipt import Receipt
from lockstep.scenarios.registry import SCENARIOS
from lockstep.scenarios.verdicts import VerdictName

Answer = Literal["yes", "no", "unclear"]
Failures = Sequence[tuple[str, str]]
"""Steps that failed, and why."""

_IN_PART = (VerdictName.PARTIAL, VerdictName.TORN)
"""Verdicts on a gang of which a part was bound, at the end or for some time."""


@dataclass(frozen=True)
class Summary:
    """What a reader must know first."""

    answer: Answer
    headline: str
    lead: str
    """The measured difference; has no text from the cluster."""
    reasons: Failures
    """Each step that failed or whose verdict is not as expected, and why."""


def summarize(receipts: Sequence[Receipt], failures: Failures = ()) -> Summary:
    """Answer from the receipts, and from steps that failed whatever their receipts say.

    A failed control makes the answer unclear, as does a step that failed without a failed verdict.
    """
    failed = [one for one in receipts if not one.verdict.ok]
    reasons = dict(failures) | {one.step: reason(one) for one in failed}
    answer, headline = _answer(receipts, failed, is_whole=len(reasons) == len(failed))
    steps = {one.step for one in receipts} | set(reasons)
    as_expected = figures.share(len(steps) - len(reasons), len(steps))
    noun = "verdict" if len(steps) == 1 else "verdicts"
    lead = f"{as_expected} {noun} as expected. {'' if reasons else contrast(receipts)}"
    return Summary(answer, headline, lead.strip(), list(reasons.items()))


def reason(receipt: Receipt) -> str:
    """The reason of a failed verdict, without the names that stand beside it anyway."""
    verdict = receipt.verdict
    known = f"{receipt.scenario}: expected {verdict.expected}, observed {verdict.observed}: "
    return verdict.reason.removeprefix(known) or "not as expected"


def _answer(
    receipts: Sequence[Receipt], failed: Sequence[Receipt], *, is_whole: bool
) -> tuple[Answer, str]:
    """Answer from the receipts; `is_whole` if no step failed but those with a failed verdict."""
    failed_gangs = [one for one in failed if one.expectation.gang]
    if any(one.verdict.observed in _IN_PART for one in failed_gangs):
        return "no", "No: a gang was bound in part."
    if not is_whole:
        return "unclear", "Inconclusive: a step failed, so that its verdict is missing or void."
    if failed_gangs:
        return "unclear", "Inconclusive: no gang was bound in part, but a gang failed otherwise."
    if failed:
        return (
            "unclear",
            "Inconclusive: the gangs passed, but a control did not fail as expected.",
        )
    if not any(one.expectation.gang for one in receipts):
        return "unclear", "Inconclusive: no workload used a gang scheduler."
    return "yes", "Yes: every gang was bound as a whole, or not at all."


def contrast(receipts: Sequence[Receipt]) -> str:
    """Say in one sentence each what happened with and without gang scheduling."""
    parts = []
    skews = [
        one.verdict.bind_skew_seconds
        for one in receipts
        if one.verdict.bind_skew_seconds is not None and _is_gang(one)
    ]
    if skews:
        parts.append(f"Gangs were bound within {figures.duration(max(skews))}.")
    for one in receipts:
        verdict = one.verdict
        if not one.expectation.gang and verdict.observed == VerdictName.PARTIAL:
            bound = figures.share(verdict.bound, verdict.size)
            parts.append(f"The default scheduler bound {bound} pods and left the rest waiting.")
        elif verdict.observed == VerdictName.DEADLOCKED:
            complete = figures.share(*complete_gangs(one))
            parts.append(f"The default scheduler completed {complete} contending gangs.")
        elif verdict.observed == VerdictName.LEADER_FIRST:
            parts.append("Workers that wait for their leader are no gang: a part was bound.")
    return " ".join(parts)


def _is_gang(receipt: Receipt) -> bool:
    """Whether the PodGroup counts all pods; with LeaderReady it counts the leader only."""
    expectation = receipt.expectation
    return expectation.gang and expectation.min_member in (None, expectation.size)


def pairs(receipts: Sequence[Receipt]) -> list[tuple[Receipt, Receipt]]:
    """Choose for each control the gang to show beside it.

    That is the scenario that the registry names. Without its receipt a held gang shows the
    difference best: the same shortage with the opposite result.
    """
    gangs = [one for one in receipts if one.expectation.gang]
    controls = [one for one in receipts if not one.expectation.gang]
    return [(min(gangs, key=partial(_distance, one)), one) for one in controls if gangs]


def _distance(control: Receipt, gang: Receipt) -> tuple[bool, bool]:
    scenario = SCENARIOS.get(control.scenario)
    wanted = scenario.control_of if scenario else None
    return gang.step != wanted, gang.verdict.observed != VerdictName.HELD


def complete_gangs(receipt: Receipt) -> tuple[int, int]:
    """How many gangs were completely bound at some time, and how many there were."""
    gangs = gang_lanes(receipt)
    return sum(gang.most_bound >= gang.size for gang in gangs), len(gangs)


def stranded_seconds(receipt: Receipt) -> float:
    """Pod-seconds for which incomplete gangs occupied nodes, as judged or else as drawn."""
    judged = receipt.verdict.measures.get("podSecondsWasted")
    if judged is not None:
        return judged
    gangs = gang_lanes(receipt)
    spans = [span for gang in gangs for pod in gang.pods for span in gang.spans(pod)]
    return round(sum(one.end - one.start for one in spans if one.state == "stranded"), 3)
