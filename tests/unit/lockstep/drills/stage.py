"""A stage for drills: time that jumps, and a cluster that answers as the test says."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from lockstep.drills import Ground
from lockstep.judge import Expectation
from lockstep.recording.model import Recording
from tests.unit.lockstep.story import Story

Deed = Callable[[float], None]
"""What happens at a time."""


class Stage:
    """Both the live recording and the client of a drill: its deeds have consequences later."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.time = 0.0
        self.ended = False
        self.deeds: list[tuple[str, str, Any]] = []
        """What the drill did: the verb, the object's name, and what with."""
        self.answers: dict[str, Callable[[float, str, Any], None]] = {}
        """By verb, what the cluster does upon it."""
        self._to_come: list[tuple[float, int, Deed]] = []
        self._order = itertools.count()

    def later(self, at: float, deed: Deed) -> None:
        heapq.heappush(self._to_come, (at, next(self._order), deed))

    # As `lockstep.recording.client.Live`:

    @property
    def recording(self) -> Recording:
        return self.story.recording

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        if self._to_come and self._to_come[0][0] <= until:
            at, _, deed = heapq.heappop(self._to_come)
            self.time = max(self.time, at)
            deed(self.time)
        else:
            self.time = until
        self.recording.end = max(self.recording.end, self.time)

    # As `lightkube.Client`:

    def create(self, thing: Any) -> None:
        """Only notes are created: they are recorded a moment later."""
        name, message = thing.metadata.name, thing.message
        self.later(
            self.time + 0.01,
            lambda at: self._note(at, name, message),
        )

    def _note(self, at: float, name: str, message: str) -> None:
        facts: dict[str, Any] = {
            "type": "Normal",
            "reason": "LockstepDrill",
            "object": "",
            "count": 1,
        }
        self.story.tell(at, "event", "ADDED", name, objectUid=None, message=message, **facts)

    def delete(self, _kind: Any, name: str, **how: Any) -> None:
        self._act("delete", name, how)

    def patch(self, _kind: Any, name: str, body: Any, **_how: Any) -> None:
        self._act("patch", name, body)

    def _act(self, verb: str, name: str, what: Any) -> None:
        self.deeds.append((verb, name, what))
        if verb in self.answers:
            self.answers[verb](self.time, name, what)


def ground(stage: Stage, expectation: Expectation, patience: float = 30.0) -> Ground:
    """What a drill gets, on this stage."""
    return Ground(cast("Any", stage), cast("Any", stage), expectation, "pool", patience, Path("/"))


def notes(stage: Stage) -> list[str]:
    """What the drill said, in order."""
    return [
        str(seen.facts["message"])
        for seen in stage.recording.of("event")
        if seen.facts["reason"] == "LockstepDrill"
    ]
