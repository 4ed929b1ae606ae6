"""What a rule looks at: a history, what was expected of it, and the limits to judge by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lockstep.judge.history import Gang, History
from lockstep.judge.model import Expectation, Finding, Limits, RecheckAt
from lockstep.recording.model import Recording


@dataclass(frozen=True)
class Case:
    """One recording under one expectation."""

    history: History
    expectation: Expectation
    limits: Limits
    final: bool = False
    """Whether there will be no more to see: a rule says now what is missing, or never."""

    @classmethod
    def of(
        cls, recording: Recording, expectation: Expectation, limits: Limits, final: bool = False
    ) -> Case:
        """Open the case."""
        return cls(History.of(recording, expectation.namespace), expectation, limits, final)

    @property
    def end(self) -> float:
        """Until when everything is known."""
        return self.history.end

    @cached_property
    def gangs(self) -> list[Gang]:
        """Every gang of the workload that was ever seen, the expected ones first."""
        return self.history.gangs(self.expectation)

    @cached_property
    def wanted(self) -> list[Gang]:
        """The gangs that should be there, whether they are or not."""
        workload = self.expectation.workload
        return self.gangs[: self.expectation.groups if workload.is_grouped else 1]


Rule = Callable[[Case], Finding | RecheckAt | None]
