"""Kill the leader, then a worker, then lose a node; each time when the group is complete."""

from lightkube.resources.core_v1 import Pod

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.groups import Incarnation
from lockstep.kube import taints


def run(context: DrillContext) -> None:
    """Cause three incidents; the node is always restored."""
    nodes = context.workers()
    taints.remove(context.client, nodes)  # an interrupted drill may have left a taint
    actions.await_collector(context)
    group = _until_recovered(context, since=-1.0)
    worker = min(pod.name for pod in group.workers)
    for topic, victim in (
        (Topic.LEADER_KILLED, group.leader.name),
        (Topic.WORKER_KILLED, worker),
    ):
        since = context.mark(topic, victim)
        context.client.delete(Pod, victim, namespace=context.namespace)
        group = _until_recovered(context, since)
    node = str(group.leader.last.facts["node"])
    try:
        since = context.mark(Topic.NODE_LOST, node)
        taints.lose(context.client, node, context.expectation.scenario)
        _until_recovered(context, since)
    finally:
        taints.remove(context.client, nodes)


def _until_recovered(context: DrillContext, since: float) -> Incarnation:
    """Wait until all groups are complete, and the first group was created after a time."""
    what = "a group that is complete, with new pods and a PodGroup of its new leader"
    case = context.until(what, lambda case: bool(_first_group(case, since)), lasting=actions.STEADY)
    return _first_group(case, since)[0]


def _first_group(case: Case, since: float) -> list[Incarnation]:
    """The first group, which has the incidents, if it was created after a time."""
    groups = actions.complete_groups(case, case.expectation.groups)
    return [group for group in groups if group.key == case.gangs[0].key and group.began > since]
