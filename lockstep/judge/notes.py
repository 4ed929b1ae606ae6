"""What a drill said that it did, as the recording has it: the marks that its effects follow."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lockstep.judge.history import History

REASON = "LockstepDrill"
OVER = "drill over"
GAVE_UP = "drill gave up"


@dataclass(frozen=True)
class Note:
    """One deed of a drill; a message is `topic: detail`, or only a topic."""

    at: float
    topic: str
    detail: str = ""


@dataclass(frozen=True)
class Phase:
    """The time from one deed to the next."""

    note: Note
    end: float


def of(history: History) -> list[Note]:
    """The notes of this run in order; those of an earlier one were there when it began."""
    found = []
    for event in history.lives.get("event", ()):
        if event.first.facts.get("reason") == REASON and not event.first.listed:
            topic, _, detail = str(event.first.facts["message"]).partition(": ")
            found.append(Note(event.first.at, topic, detail))
    return sorted(found, key=lambda note: note.at)


def phases(history: History, topics: Collection[str]) -> list[Phase]:
    """What followed each deed of these topics, until the drill did something else."""
    known = of(history)
    ends = [*(note.at for note in known[1:]), history.end]
    return [
        Phase(note, max(end, note.at))
        for note, end in zip(known, ends, strict=False)
        if note.topic in topics
    ]


def is_over(history: History) -> bool:
    """Whether the drill does nothing more, because it is through or because it gave up."""
    return any(note.topic in (OVER, GAVE_UP) for note in of(history))


def surrender(history: History) -> str | None:
    """What the drill waited for in vain, if it did."""
    return next((note.detail for note in of(history) if note.topic == GAVE_UP), None)
