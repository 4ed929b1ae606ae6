"""The answer to the first question: does the gang scheduler keep its promise here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lockstep.report import figures
from lockstep.report.lanes import gangs, stranded_seconds

Receipt = Mapping[str, Any]
Answer = Literal["yes", "no", "unclear"]

MEANINGS = {
    "placed": "There was room, and each gang was bound whole, in one burst.",
    "held": "There was room for only a part of the gang, so no pod was bound: it waited whole.",
    "released": "Room was made, and the whole gang was bound in one burst.",
    "partial": "Without a gang scheduler some pods were bound and the rest waited: "
    "nodes are taken, and nothing can start.",
}
"""What a verdict means, in a sentence."""


@dataclass(frozen=True)
class Summary:
    """What a reader must know first."""

    answer: Answer
    headline: str
    lead: str
    """The measured difference; made of our words and numbers only."""
    reasons: Sequence[tuple[str, str]]
    """Why not, by step; the words come from the receipts."""


def summarize(receipts: Sequence[Receipt]) -> Summary:
    """Answer from the receipts alone: one bad gang is a no, bad controls make it unclear."""
    failed = [one for one in receipts if not one["verdict"]["ok"]]
    answer, headline = _answer(receipts, failed)
    as_expected = figures.share(len(receipts) - len(failed), len(receipts))
    noun = "verdict" if len(receipts) == 1 else "verdicts"
    lead = f"{as_expected} {noun} as expected. {'' if failed else contrast(receipts)}"
    reasons = [(one["step"], one["verdict"]["reason"] or "not as expected") for one in failed]
    return Summary(answer, headline, lead.strip(), reasons)


def _answer(receipts: Sequence[Receipt], failed: Sequence[Receipt]) -> tuple[Answer, str]:
    if any(one["expectation"]["gang"] for one in failed):
        return "no", "No: the gang scheduler did not do what it promises."
    if failed:
        return (
            "unclear",
            "Not shown: the gangs held, but the run to compare them with did not show it.",
        )
    if not any(one["expectation"]["gang"] for one in receipts):
        return "unclear", "Not shown: nothing here ran under a gang scheduler."
    return "yes", "Yes: every gang ran whole, or not at all."


def contrast(receipts: Sequence[Receipt]) -> str:
    """Put what happened with and without gang scheduling into one sentence each."""
    parts = []
    skews = [s for one in receipts if (s := _skew(one)) is not None and one["expectation"]["gang"]]
    if skews:
        parts.append(f"Gangs were bound within {figures.duration(max(skews))}.")
    for one in receipts:
        verdict = one["verdict"]
        if not one["expectation"]["gang"] and verdict["observed"] == "partial":
            parts.append(
                f"The default scheduler bound {figures.share(verdict['bound'], verdict['size'])} "
                "pods and left the rest waiting."
            )
    return " ".join(parts)


def pair(receipts: Sequence[Receipt]) -> tuple[Receipt, Receipt] | None:
    """Choose the gang and its control for the picture side by side.

    A control belongs to the scenario of its name (contention-control to contention). Otherwise a
    held gang shows the difference best: the same shortage, and the opposite of it.
    """
    for control in (one for one in receipts if not one["expectation"]["gang"]):
        under_gang = [one for one in receipts if one["expectation"]["gang"]]
        namesake = str(control["step"]).removesuffix("-control")
        for wanted in (
            lambda one, name=namesake: one["step"] == name,
            lambda one: one["verdict"]["observed"] == "held",
            lambda _: True,
        ):
            found = next(filter(wanted, under_gang), None)
            if found is not None:
                return found, control
    return None


def stranded(receipt: Receipt) -> float:
    """Pod-seconds spent holding a node without a complete gang."""
    return round(sum(stranded_seconds(gang) for gang in gangs(receipt)), 3)


def _skew(receipt: Receipt) -> float | None:
    skew = receipt["verdict"].get("bindSkewSeconds")
    return None if skew is None else float(skew)
