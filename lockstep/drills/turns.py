"""Gangs that contend: whichever is whole does its work and ends, until each has had its turn.

A gang ends when its leader is deleted; LWS makes the group anew, so it queues up behind the others.
The leader is deleted in the foreground, as LWS does it: whatever belongs to it is gone before the
next leader comes. Its PodGroup is deleted as well: the garbage collector looks for new kinds only
every 30 seconds, and does not know PodGroups until then. A new group that meets the old PodGroup
would use it, lose it to the collector, and be left without one (lws#1054).
"""

from __future__ import annotations

from collections.abc import Sequence

from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from lockstep.drills import pod_groups
from lockstep.drills.context import Ground
from lockstep.drills.outcome import spoilt
from lockstep.judge import figures as runs
from lockstep.judge import podgroups
from lockstep.judge.figures import Run
from lockstep.judge.history import Gang, History

WORK = 1.0
"""Seconds that a gang works."""
ROUNDS = 3
"""Turns per gang after which those that have had none have starved."""


def run(ground: Ground) -> None:
    """Let every gang run once, and one more after the last: the judge sees the crowd at work."""
    for _ in range(ROUNDS * ground.expectation.groups):
        at_work = _await_work(ground)
        if not at_work:
            return
        _finish(ground, at_work[0])
        if _all_had_a_turn(ground):
            break
    _await_work(ground)
    # LWS takes a while to make an ended group anew; the judge must not meet it half-way.
    ground.until("every group made anew", lambda seen: spoilt(ground) or _all_there(ground, seen))


def _await_work(ground: Ground) -> Sequence[Run]:
    """Wait for a whole gang; none when the outcome is known to be another."""
    history = ground.until(
        "a whole gang", lambda seen: spoilt(ground) or bool(_at_work(ground, seen))
    )
    return _at_work(ground, history)


def _all_there(ground: Ground, history: History) -> bool:
    gangs = _gangs(ground, history)
    return all(len(gang.alive) == gang.size and podgroups.of(history, gang) for gang in gangs)


def _gangs(ground: Ground, history: History) -> list[Gang]:
    return history.gangs(ground.expectation)[: ground.expectation.groups]


def _runs(ground: Ground, history: History) -> list[Run]:
    return runs.of(history, _gangs(ground, history))


def _at_work(ground: Ground, history: History) -> Sequence[Run]:
    """Gangs that are whole now, the longest at work first."""
    return [one for one in _runs(ground, history) if one.generation.whole]


def _all_had_a_turn(ground: Ground) -> bool:
    ended = {one.key for one in _runs(ground, ground.history()) if one.over}
    return len(ended) >= ground.expectation.groups


def _finish(ground: Ground, one: Run) -> None:
    ground.rest(WORK)
    leader = one.generation.leader
    ground.note(f"done: {one.key} has worked for {ground.live.now() - one.start:.1f} s and ends")
    ground.client.delete(
        Pod, leader.name, namespace=ground.namespace, cascade=CascadeType.FOREGROUND
    )
    if name := leader.last.facts.get("podGroup"):
        pod_groups.delete(ground, name)
    ground.until(
        f"the end of {one.key}",
        lambda seen: all(not pod.alive for pod in seen.pods if pod.first.uid in _uids(one)),
    )


def _uids(one: Run) -> set[str]:
    return {pod.first.uid for pod in one.generation.pods}
