"""A stage for drills: time that jumps, and a cluster that answers as the test says."""

import heapq
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from lockstep.drills import DrillContext
from lockstep.judge import Expectation
from lockstep.recording.model import Recording
from tests.unit.lockstep.story import Story

Event = Callable[[float], object]
"""What happens at a time."""


class Stage:
    """Both the live recording and the client of a drill: its actions have effects later."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.time = 0.0
        self.ended = False
        self.actions: list[tuple[str, str, Any]] = []
        """What the drill did: the verb, the object's name, and the arguments."""
        self.answers: dict[str, Callable[[float, str, Any], None]] = {}
        """By verb, how the cluster reacts."""
        self._to_come: list[tuple[float, int, Event]] = []
        self._order = itertools.count()

    def later(self, at: float, event: Event) -> None:
        heapq.heappush(self._to_come, (at, next(self._order), event))

    # As `lockstep.recording.client.Live`:

    @property
    def recording(self) -> Recording:
        return self.story.recording

    def now(self) -> float:
        return self.time

    def wait(self, until: float) -> None:
        if self._to_come and self._to_come[0][0] <= until:
            at, _, event = heapq.heappop(self._to_come)
            self.time = max(self.time, at)
            event(self.time)
        else:
            self.time = until
        self.recording.end = max(self.recording.end, self.time)

    # As `lightkube.Client`:

    def delete(self, _kind: Any, name: str, **how: Any) -> None:
        self._act("delete", name, how)

    def patch(self, _kind: Any, name: str, body: Any, **_how: Any) -> None:
        self._act("patch", name, body)

    def _act(self, verb: str, name: str, what: Any) -> None:
        self.actions.append((verb, name, what))
        if verb in self.answers:
            self.answers[verb](self.time, name, what)


def context_of(stage: Stage, expectation: Expectation, patience: float = 30.0) -> DrillContext:
    """What a drill gets, on this stage."""
    return DrillContext(cast("Any", stage), cast("Any", stage), expectation, patience, Path("/"))


def marks(stage: Stage) -> list[str]:
    """The steps that the drill noted, in order."""
    return [mark.message for mark in stage.recording.marks]
