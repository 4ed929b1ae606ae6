"""Which scheduler places a gang: only one that knows PodGroups, and one for all, can hold it."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.judge.history import Gang, Pod

# Known to ignore PodGroups; LWS makes them for its pods all the same (lws#630).
PLAIN = "default-scheduler"


def problems(gang: Gang) -> list[str]:
    """Say what is wrong with the schedulers that a gang's pods ask for, each as one clause.

    A pod of another scheduler does not stop Volcano: once bound, by whomever, it counts as one of
    the gang. So a gang may be placed whole by luck, which is not what was to be shown.
    """
    asked: dict[str, list[Pod]] = {}
    for pod in gang.alive:
        asked.setdefault(str(pod.last.facts.get("scheduler")), []).append(pod)
    if len(asked) > 1:
        few = min(asked, key=lambda name: (len(asked[name]), name))
        return [f"{names(asked[few])} asks for another scheduler, {few}"]
    if PLAIN in asked:
        return [f"{gang.key} asks for {PLAIN}, which ignores PodGroups"]
    return []


def names(pods: Sequence[Pod], most: int = 8) -> str:
    """List pods by name, the first few of many."""
    known = sorted(pod.name for pod in pods)
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more
