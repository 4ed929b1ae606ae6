"""The steps of a drill, which are marks in the recording: their topics, and what followed each."""

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from lockstep.judge import history
from lockstep.judge.history import History


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
    RENEWED = history.RENEWED
    OVER = "drill over"
    FAILED = "drill gave up"


class Phase(NamedTuple):
    """One step of a drill, and the time from it to the next step."""

    topic: str
    text: str
    start: float
    end: float

    def __str__(self) -> str:
        return f"{self.topic} ({self.text})"


def phases(history: History, topics: Collection[str]) -> list[Phase]:
    """The phase after each step of these topics."""
    marks = history.recording.marks
    ends = [*(mark.at for mark in marks[1:]), history.end]
    return [
        Phase(mark.topic, mark.text, mark.at, max(end, mark.at))
        for mark, end in zip(marks, ends, strict=False)
        if mark.topic in topics
    ]


def over_at(history: History) -> float | None:
    """When the drill ended or failed; None while it goes on."""
    ends = (Topic.OVER, Topic.FAILED)
    return next((mark.at for mark in history.recording.marks if mark.topic in ends), None)
