"""The second set of a scenario, which competes with the first for the same room."""

from __future__ import annotations

from msgspec.structs import replace

from lockstep.judge.history import Gang, History
from lockstep.judge.model import Expectation


def of(history: History, expectation: Expectation) -> list[Gang]:
    """The rival's gangs, whether they are there or not."""
    if expectation.rival is None:
        return []
    theirs = replace(expectation, workload=expectation.rival)
    return history.gangs(theirs)[: expectation.groups]
