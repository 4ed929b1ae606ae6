"""The steps of a drill, which are marks in the recording: their topics, and what followed each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from lockstep.judge.history import History
from lockstep.recording.model import Mark


class Topic(StrEnum):
    """What a drill did, in the words of a receipt."""

    LEADER_KILLED = "leader killed"
    WORKER_KILLED = "worker killed"
    NODE_LOST = "node lost"
    UPDATE_WITHOUT_SURGE = "update without surge"
    UPDATE_WITH_SURGE = "update with surge"
    SCALE = "scale to groups"
    ROOM_FOR_A_PART = "room for a part"
    ROOM_FOR_ALL = "room for all"
    RIGHTS_TAKEN = "rights taken"
    LWS_ERROR = "LWS said"
    RIGHTS_BACK = "rights back"
    GANG_ENDS = "done"
    RIVAL_ARRIVES = "arrives"
    PRIORITY_SET = "priority"
    WAITING = "waiting"
    OVER = "drill over"
    FAILED = "drill gave up"


@dataclass(frozen=True)
class Phase:
    """The time from one step of a drill to the next step."""

    mark: Mark
    end: float

    @property
    def start(self) -> float:
        """When the drill did it."""
        return self.mark.at


def steps(history: History) -> list[Mark]:
    """The steps of the drill, in order."""
    return sorted(history.recording.marks, key=lambda mark: mark.at)


def phases(history: History, topics: Collection[str]) -> list[Phase]:
    """The phase after each step of these topics."""
    known = steps(history)
    ends = [*(mark.at for mark in known[1:]), history.end]
    return [
        Phase(mark, max(end, mark.at))
        for mark, end in zip(known, ends, strict=False)
        if mark.topic in topics
    ]


def over_at(history: History) -> float | None:
    """When the drill ended or failed; None while it goes on."""
    ended = (mark.at for mark in steps(history) if mark.topic in (Topic.OVER, Topic.FAILED))
    return next(ended, None)
