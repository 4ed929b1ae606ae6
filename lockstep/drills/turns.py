"""Gangs that compete: a gang that is complete works and ends, until each has had its turn.

A gang ends when its leader is deleted; LWS recreates the group, which then waits for its next turn.
The PodGroup is deleted as well: the garbage collector looks for new kinds only every 30 seconds,
and does not know PodGroups until then. A new group that finds the old PodGroup would use it, lose
it to the collector, and be left without one (lws#1054).
"""

from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge import figures, podgroups
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.figures import Run

WORK = 1.0
"""Seconds that a gang works."""
ROUNDS = 3
"""Turns per gang after which a gang that has had none has starved."""


def run(context: DrillContext) -> None:
    """Let every gang run once, and one more after the last."""
    for _ in range(ROUNDS * context.expectation.groups):
        running = _await_running(context)
        if not running:
            return
        _finish(context, running[0])
        ended = {run.key for run in _runs(context.case()) if run.over}
        if len(ended) >= context.expectation.groups:
            break
    _await_running(context)
    # LWS needs a while to recreate a group; the judge must not see it incomplete.
    context.until(
        "every group to be recreated",
        lambda case: context.has_failed() or _all_exist(case),
    )


def _await_running(context: DrillContext) -> list[Run]:
    """Wait for a complete gang; none when the verdict has failed already."""
    case = context.until(
        "a complete gang", lambda case: context.has_failed() or bool(_running(case))
    )
    return _running(case)


def _all_exist(case: Case) -> bool:
    return all(
        len(gang.alive) == gang.size and podgroups.of(case.history, gang) for gang in case.wanted
    )


def _runs(case: Case) -> list[Run]:
    return figures.runs(case.history, case.wanted)


def _running(case: Case) -> list[Run]:
    """Gangs that are complete now, by the time since which they run."""
    return [run for run in _runs(case) if run.incarnation.is_complete]


def _finish(context: DrillContext, run: Run) -> None:
    context.rest(WORK)
    leader = run.incarnation.leader
    worked = context.live.now() - run.start
    context.mark(Topic.GANG_ENDS, f"{run.key} has worked for {worked:.1f} s and ends")
    actions.delete_leader(context, leader.name)
    if name := leader.last.facts.get("podGroup"):
        actions.delete_pod_group(context, name)
    uids = {pod.uid for pod in run.incarnation.pods}
    context.until(
        f"the end of {run.key}",
        lambda case: not any(pod.alive for pod in case.history.pods if pod.uid in uids),
    )
