"""A gang fills the pool, then a gang of higher priority arrives.

Volcano compares the priority classes of PodGroups. LWS creates a PodGroup without a class and does
not change it afterwards, so the drill writes the class of the pods into it.
"""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.errors import LockstepError
from lockstep.judge import podgroups
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.history import ObservedGang
from lockstep.kube.client import PodGroup


def run(context: DrillContext) -> None:
    """Start from a pool that the first set fills; an earlier drill may have let the rival in."""
    expectation = context.expectation
    rival = expectation.rival
    if rival is None:
        raise LockstepError("this drill needs a rival in the expectation")
    actions.scale(context, 0, rival)
    context.until(
        "the rival's pods to be deleted",
        lambda case: not any(gang.alive for gang in case.rivals),
    )
    context.until(
        "a pool full of low priority",
        lambda case: all(gang.is_complete for gang in case.wanted),
    )
    context.rest(1.0)
    context.mark(Topic.RIVAL_ARRIVES, "a gang of higher priority")
    actions.scale(context, expectation.groups, rival)
    case = context.until(
        "the rival's PodGroup",
        lambda case: all(gang.alive and podgroups.of(case.history, gang) for gang in case.rivals),
    )
    for gang in case.rivals:
        _set_priority(context, case, gang)


def _set_priority(context: DrillContext, case: Case, gang: ObservedGang) -> None:
    """Give a PodGroup the priority class that its pods have."""
    group = podgroups.of(case.history, gang)
    classes = sorted({str(pod.last.facts["priorityClass"]) for pod in gang.alive})
    if group is None or len(classes) != 1:
        raise LockstepError(f"the pods of {gang.key} are not of one priority class: {classes}")
    actions.patch(context, PodGroup, group.name, {"priorityClassName": classes[0]})
    text = f"PodGroup {group.name} gets {classes[0]}, which LWS did not set"
    context.mark(Topic.PRIORITY_SET, text)
