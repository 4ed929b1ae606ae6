"""What is known of the outcome while a drill goes on."""

from __future__ import annotations

from lockstep import judge
from lockstep.drills.context import Ground


def spoilt(ground: Ground) -> bool:
    """Whether the outcome is known to be another: there is nothing more to wait for."""
    verdict = judge.judge(ground.live.recording, ground.expectation)
    return verdict is not None and not verdict.ok
