"""Words for a reason: which pods, what is wrong, and what may have kept a gang from its place."""

from __future__ import annotations

from lockstep.judge import podgroups, schedulers
from lockstep.judge.case import Case
from lockstep.judge.history import Gang, History
from lockstep.judge.schedulers import names

__all__ = ["about", "names", "problems"]


def about(history: History, gang: Gang) -> list[str]:
    """What the recording shows that sets this gang apart from one that works."""
    found = schedulers.problems(gang)
    group = podgroups.of(history, gang)
    if group is None:
        found.append(podgroups.missing(history, gang))
    elif (group.last.facts.get("minMember") or 0) < gang.size:
        found.append(f"PodGroup {group.name} has minMember {group.last.facts.get('minMember')}")
    return found


def problems(case: Case) -> list[str]:
    """Everything that is wrong with how the gangs are held together, though they look right."""
    found = podgroups.problems(case, uncollected=False)
    if case.expectation.gang:
        found += [problem for gang in case.wanted for problem in schedulers.problems(gang)]
    return found
