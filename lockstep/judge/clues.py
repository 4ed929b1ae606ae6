"""Words for a reason: which pods, and what may have kept their gang from being placed whole."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge import podgroups
from lockstep.judge.history import Gang, History, Pod


def names(pods: Sequence[Pod], most: int = 8) -> str:
    """List pods by name, the first few of many."""
    known = sorted(pod.name for pod in pods)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def about(history: History, gang: Gang) -> list[str]:
    """What the recording shows that sets this gang apart from one that works."""
    found: list[str] = []
    schedulers: dict[str, list[Pod]] = {}
    for pod in gang.alive:
        schedulers.setdefault(str(pod.last.facts.get("scheduler")), []).append(pod)
    if len(schedulers) > 1:
        few = min(schedulers, key=lambda name: (len(schedulers[name]), name))
        found.append(f"{names(schedulers[few])} asks for another scheduler, {few}")
    group = podgroups.of(history, gang)
    if group is None:
        found.append(podgroups.missing(history, gang))
    elif (group.last.facts.get("minMember") or 0) < gang.size:
        found.append(f"PodGroup {group.name} has minMember {group.last.facts.get('minMember')}")
    return found
