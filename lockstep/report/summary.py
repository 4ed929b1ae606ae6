"""The answer to the first question: does the gang scheduler keep its promise here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
    "serialized": "There were more gangs than room: whole ones ran in turn, never a part of one.",
    "deadlocked": "There were more gangs than room and no gang scheduler: "
    "several got a part of what they need, and none could start.",
    "recreated": "A member was lost, and the whole gang came back together.",
    "rolled": "The template changed, and each group was replaced whole.",
    "scaled": "Groups came and went whole, and their PodGroups with them.",
    "capped": "The queue let only so many gangs in, each whole.",
    "preempted-whole": "A gang of higher priority took the place of a whole one.",
    "waits": "A gang of higher priority waited; no running gang was cut to a part.",
    "leader-first": "The leader must be ready before its workers come, so there was no gang: "
    "what fitted was bound, the leader first.",
    "refused": "Without its rights, LWS made no PodGroup and said so; with them back, it went on.",
}
"""What a verdict means, in a sentence."""


_IN_PART = ("partial", "torn")
"""What the judge calls a gang that was bound in part, still or for a time."""


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
    reasons = [(one["step"], reason(one)) for one in failed]
    return Summary(answer, headline, lead.strip(), reasons)


def reason(receipt: Receipt) -> str:
    """Say why a verdict is not the expected one, without what is written beside it anyway."""
    verdict = receipt["verdict"]
    known = (
        f"{receipt['scenario']}: expected {verdict['expected']}, observed {verdict['observed']}: "
    )
    return str(verdict["reason"]).removeprefix(known) or "not as expected"


def _answer(receipts: Sequence[Receipt], failed: Sequence[Receipt]) -> tuple[Answer, str]:
    with_gang = [one for one in failed if one["expectation"]["gang"]]
    if any(one["verdict"]["observed"] in _IN_PART for one in with_gang):
        return "no", "No: a gang was bound in part."
    if with_gang:
        return (
            "unclear",
            "Not shown: no gang was bound in part, but some did not do what they should.",
        )
    if failed:
        return "unclear", "Not shown: the gangs held, but what they are compared with did not fail."
    if not any(one["expectation"]["gang"] for one in receipts):
        return "unclear", "Not shown: nothing here ran under a gang scheduler."
    return "yes", "Yes: every gang ran whole, or not at all."


def contrast(receipts: Sequence[Receipt]) -> str:
    """Put what happened with and without gang scheduling into one sentence each."""
    parts = []
    skews = [s for one in receipts if (s := _skew(one)) is not None and _is_whole(one)]
    if skews:
        parts.append(f"Gangs were bound within {figures.duration(max(skews))}.")
    for one in receipts:
        verdict = one["verdict"]
        if not one["expectation"]["gang"] and verdict["observed"] == "partial":
            bound = figures.share(verdict["bound"], verdict["size"])
            parts.append(f"The default scheduler bound {bound} pods and left the rest waiting.")
        elif verdict["observed"] == "deadlocked":
            whole = figures.share(*whole_gangs(one))
            parts.append(f"With the default scheduler {whole} contending gangs ran whole.")
        elif verdict["observed"] == "leader-first":
            parts.append("Workers that wait for their leader are no gang: a part was bound.")
    return " ".join(parts)


def _is_whole(receipt: Receipt) -> bool:
    """Whether a PodGroup ties all pods together; with LeaderReady it counts the leader only."""
    expectation = receipt["expectation"]
    return expectation["gang"] and expectation.get("minMember") in (None, expectation["size"])


def pairs(receipts: Sequence[Receipt]) -> list[tuple[Receipt, Receipt]]:
    """Choose for each control the gang to put beside it.

    A control belongs to the scenario of its name (contention-control to contention). Otherwise a
    held gang shows the difference best: the same shortage, and the opposite of it.
    """
    under_gang = [one for one in receipts if one["expectation"]["gang"]]
    found = []
    for control in (one for one in receipts if not one["expectation"]["gang"]):
        nearest = min(under_gang, key=partial(_distance, control), default=None)
        if nearest is not None:
            found.append((nearest, control))
    return found


def _distance(control: Receipt, gang: Receipt) -> tuple[bool, bool]:
    namesake = str(control["step"]).removesuffix("-control")
    return gang["step"] != namesake, gang["verdict"]["observed"] != "held"


def whole_gangs(receipt: Receipt) -> tuple[int, int]:
    """How many gangs were bound whole at some time, out of how many."""
    everyone = gangs(receipt)
    return sum(gang.most_bound >= gang.size for gang in everyone), len(everyone)


def stranded(receipt: Receipt) -> float:
    """Pod-seconds spent holding a node without a complete gang, as judged or else as drawn."""
    judged = (receipt["verdict"].get("measures") or {}).get("podSecondsWasted")
    if judged is not None:
        return float(judged)
    return round(sum(stranded_seconds(gang) for gang in gangs(receipt)), 3)


def _skew(receipt: Receipt) -> float | None:
    skew = receipt["verdict"].get("bindSkewSeconds")
    return None if skew is None else float(skew)
