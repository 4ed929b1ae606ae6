"""Take LWS's right to make PodGroups away, let it make a group anew, and give the right back."""

from __future__ import annotations

from collections.abc import Callable

from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from lockstep.drills import actions as sets
from lockstep.drills.collector import await_collector
from lockstep.drills.context import Ground, InVain
from lockstep.drills.lws_log import LwsLog
from lockstep.judge import groups as generations
from lockstep.judge.history import History
from lockstep.judge.rules.refused import BACK, SAID, TAKEN
from lockstep.lws import rights

LASTING = 3.0
"""Seconds without a PodGroup, while LWS tries again and again."""
PAUSE = 0.25


def run(ground: Ground) -> None:
    """The right is given back whatever happens."""
    client, cluster = ground.client, ground.folder.name
    rights.give(client, cluster)  # an interrupted drill may have left it away
    groups = ground.expectation.groups
    await_collector(ground)
    leader = sets.until_whole(ground, groups)[0].leader
    log = LwsLog(client, ground.folder)
    try:
        since = ground.note(f"{TAKEN}: {rights.NAMESPACE}/{rights.ACCOUNT} may not make PodGroups")
        rights.take(client, cluster)
        _poll(
            ground,
            "a refusal of the API server (does LWS have the right by another role?)",
            lambda: not rights.are_given(client, ground.namespace),
        )
        # Foreground, as LWS does it: no PodGroup of the old leader is left for the new one.
        client.delete(Pod, leader.name, namespace=ground.namespace, cascade=CascadeType.FOREGROUND)
        _poll(ground, "LWS's error in its log", lambda: log.refusal(ground.namespace) is not None)
        what = "a new leader that waits"
        ground.steadily(what, LASTING, lambda history: _waits(ground, history, since))
        ground.note(f"{SAID}: {log.refusal(ground.namespace)}")
    finally:
        rights.give(client, cluster)
    ground.note(f"{BACK}: {rights.NAMESPACE}/{rights.ACCOUNT}")
    sets.until_whole(ground, groups)


def _waits(ground: Ground, history: History, since: float) -> bool:
    """Whether a group was made anew and is no further than its leader."""
    lives = generations.of(history.gangs(ground.expectation)[0])
    leader = lives[-1].leader if lives else None
    return leader is not None and leader.first.at > since and leader.alive and not leader.bound


def _poll(ground: Ground, what: str, reached: Callable[[], bool]) -> None:
    """Wait for what no recording can show."""
    deadline = ground.live.now() + ground.patience
    while not reached():
        if ground.live.now() >= deadline:
            raise InVain(f"the drill waited {ground.patience:.0f} s in vain for: {what}")
        ground.rest(PAUSE)
