"""The input of a rule: a history, and what was expected of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lockstep.judge.history import History, ObservedGang
from lockstep.judge.model import Expectation, Finding, RecheckAt
from lockstep.recording.model import Recording
from lockstep.scenarios.verdicts import VerdictName


@dataclass(frozen=True)
class Case:
    """One recording under one expectation."""

    history: History
    expectation: Expectation
    gangs: list[ObservedGang]
    """Every gang of the workload that was ever observed, the expected gangs first."""
    final: bool = False
    """Whether the recording will not grow: a rule must say now what is missing."""

    @classmethod
    def of(cls, recording: Recording, expectation: Expectation, final: bool = False) -> Case:
        """Open the case of a recording."""
        history = History.of(recording, expectation.namespace)
        return cls(history, expectation, history.gangs(expectation), final)

    @property
    def end(self) -> float:
        """The time until which everything is known."""
        return self.history.end

    @property
    def wanted(self) -> list[ObservedGang]:
        """The gangs that should exist, whether they do or not."""
        return self.gangs[: self.expectation.groups]

    @property
    def rivals(self) -> list[ObservedGang]:
        """The gangs that the rival should have; none if there is no rival."""
        expectation, rival = self.expectation, self.expectation.rival
        return self.history.gangs(expectation, rival)[: expectation.groups] if rival else []


Rule = Callable[[Case], Finding | RecheckAt | None]
"""Looks for one outcome: finds it, does not find it, or says when to look again."""


def fail(observed: str, *problems: str, evidence: tuple[str, ...] | None = None) -> Finding:
    """A finding that fails the verdict; the problems are the evidence if there is no other."""
    shown = problems if evidence is None else evidence
    return Finding(observed, "; ".join(problems), shown, valid=False)


def unproven(reason: str) -> Finding:
    """The finding that a state may be as expected, but that it was not seen to come about."""
    return fail(VerdictName.UNPROVEN, reason)
