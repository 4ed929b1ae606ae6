"""Nothing is done to the workload; it only gets time, to show what does not come of it."""

from __future__ import annotations

from lockstep.drills.context import Ground
from lockstep.drills.outcome import spoilt
from lockstep.judge.history import History

SECONDS = 10.0


def run(ground: Ground) -> None:
    """Wait until no pod can be placed any more, then see how long that lasts."""
    ground.until(
        "pods that are bound, and pods that are refused",
        lambda seen: spoilt(ground) or _full(ground, seen),
    )
    if spoilt(ground):
        return
    ground.note(f"waiting: {SECONDS:.0f} s for any gang to become whole")
    ground.rest(SECONDS)


def _full(ground: Ground, history: History) -> bool:
    gangs = history.gangs(ground.expectation)[: ground.expectation.groups]
    pods = [pod for gang in gangs for pod in gang.alive]
    waiting = [pod for pod in pods if not pod.bound]
    return (
        len(pods) == ground.expectation.pods
        and 0 < len(waiting) < len(pods)
        and all(pod.last.facts.get("unschedulable") for pod in waiting)
    )
