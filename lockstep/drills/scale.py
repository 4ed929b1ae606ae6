"""Scale to two groups, to six, to one: each time when the groups asked for are whole."""

from __future__ import annotations

from lockstep.drills import actions as sets
from lockstep.drills.collector import await_collector
from lockstep.drills.context import Ground
from lockstep.judge.rules.scaled import TOPIC
from lockstep.scenarios.registry import SCALE_STEPS


def run(ground: Ground) -> None:
    """Take every step; the last is what the set was made with, whatever happens."""
    last = SCALE_STEPS[-1]
    sets.scale(ground, last)  # an interrupted drill may have left more
    await_collector(ground)
    sets.until_whole(ground, last)
    try:
        for groups in SCALE_STEPS:
            ground.note(f"{TOPIC}: {groups}")
            sets.scale(ground, groups)
            sets.until_whole(ground, groups)
    finally:
        sets.scale(ground, last)
