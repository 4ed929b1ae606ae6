"""A gang fills the pool, then a gang of higher priority arrives.

Volcano compares the priority classes of PodGroups. LWS creates a PodGroup without a class and does
not change it afterwards, so the drill writes the class of the pods into it.
"""

from __future__ import annotations

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.errors import LockstepError
from lockstep.judge import podgroups
from lockstep.judge.drill_marks import Topic
from lockstep.judge.history import History, ObservedGang


def run(context: DrillContext) -> None:
    """Start from a pool that the first set fills; an earlier drill may have let the rival in."""
    expectation = context.expectation
    rival = expectation.rival
    if rival is None:
        raise LockstepError("this drill needs a rival in the expectation")
    actions.scale(context, 0, rival)
    context.until(
        "the rival's pods to be deleted",
        lambda seen: not any(gang.alive for gang in seen.rival_gangs(expectation)),
    )
    context.until(
        "a pool full of low priority",
        lambda seen: all(gang.is_complete for gang in seen.expected_gangs(expectation)),
    )
    context.rest(1.0)
    context.mark(Topic.RIVAL_ARRIVES, "a gang of higher priority")
    actions.scale(context, expectation.groups, rival)
    history = context.until(
        "the rival's PodGroup",
        lambda seen: all(
            gang.alive and podgroups.of(seen, gang) for gang in seen.rival_gangs(expectation)
        ),
    )
    for gang in history.rival_gangs(expectation):
        _set_priority(context, history, gang)


def _set_priority(context: DrillContext, history: History, gang: ObservedGang) -> None:
    """Give a PodGroup the priority class that its pods have."""
    group = podgroups.of(history, gang)
    classes = sorted({str(pod.last.facts["priorityClass"]) for pod in gang.alive})
    if group is None or len(classes) != 1:
        raise LockstepError(f"the pods of {gang.key} are not of one priority class: {classes}")
    actions.patch_pod_group(context, group.name, {"priorityClassName": classes[0]})
    text = f"PodGroup {group.name} gets {classes[0]}, which LWS did not set"
    context.mark(Topic.PRIORITY_SET, text)
