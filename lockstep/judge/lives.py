"""What became of one object: all that was seen of it, and when."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lockstep.recording.model import Observation

_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Interval:
    """A stretch of time; `open` when it had not ended with the recording."""

    start: float
    end: float
    open: bool = False

    def overlap(self, other: Interval) -> float:
        """Seconds that two stretches have in common."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))


@dataclass(frozen=True)
class Life:
    """All observations of one object, oldest first. The same name with another uid is another."""

    story: tuple[Observation, ...]

    @property
    def first(self) -> Observation:
        """The first sight."""
        return self.story[0]

    @property
    def last(self) -> Observation:
        """The newest state."""
        return self.story[-1]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.first.name

    @property
    def gone(self) -> bool:
        """Whether it was deleted."""
        return self.last.change == "DELETED"


class Pod(Life):
    """A pod's way: created, bound, running, leaving."""

    @cached_property
    def bound(self) -> Observation | None:
        """The observation that first showed it on a node."""
        return next((seen for seen in self.story if seen.facts.get("node")), None)

    @cached_property
    def leaving(self) -> Observation | None:
        """The observation that first showed it finished, being deleted or gone."""
        return next((seen for seen in self.story if _leaves(seen)), None)

    @cached_property
    def running(self) -> Observation | None:
        """The observation that first showed it running."""
        return next((seen for seen in self.story if seen.facts.get("phase") == "Running"), None)

    @property
    def alive(self) -> bool:
        """Whether it is there to stay."""
        return self.leaving is None

    @property
    def exactly_bound(self) -> bool:
        """Whether a watch told of the binding, so that its time is known."""
        return self.bound is not None and not self.bound.listed

    @property
    def is_running(self) -> bool:
        """Whether it runs now."""
        return self.alive and self.last.facts.get("phase") == "Running"


def _leaves(seen: Observation) -> bool:
    facts = seen.facts
    return seen.change == "DELETED" or bool(facts.get("deleting")) or facts["phase"] in _FINISHED
