"""Pods that belong together, and when some but not all of them had a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lockstep.judge.lives import Interval, Pod


@dataclass(frozen=True)
class Gang:
    """Pods that belong together, of all generations."""

    key: str
    size: int
    pods: tuple[Pod, ...] = ()

    @property
    def alive(self) -> list[Pod]:
        """Pods that are there to stay."""
        return [pod for pod in self.pods if pod.alive]

    @property
    def bound(self) -> list[Pod]:
        """Living pods that have a node."""
        return [pod for pod in self.alive if pod.bound]

    @property
    def complete(self) -> bool:
        """Whether every pod of it runs."""
        alive = self.alive
        return len(alive) == self.size and all(pod.is_running for pod in alive)

    def partly_bound(self, end: float) -> Iterator[Interval]:
        """Find the stretches in which some of the gang, but not all of it, was bound.

        Each generation of pods is a gang of its own: an update replaces one by the other.
        """
        generations: dict[tuple[Any, int], list[Pod]] = {}
        for pod in self.pods:
            facts = pod.first.facts
            key = (facts.get("revision"), int(facts.get("size") or self.size))
            generations.setdefault(key, []).append(pod)
        for (_, size), pods in generations.items():
            yield from _partly_bound(pods, size, end)


def _partly_bound(pods: Iterable[Pod], size: int, end: float) -> Iterator[Interval]:
    """Sum up who was bound when.

    A pod counts from its binding until it starts to leave: a group that is torn down whole loses
    its pods one after the other, and that is no fault of a scheduler.
    """
    steps: list[tuple[float, int]] = []
    for pod in pods:
        if pod.bound and not (pod.leaving and pod.leaving.at <= pod.bound.at):
            steps.append((pod.bound.at, 1))
            if pod.leaving:
                steps.append((pod.leaving.at, -1))
    since: float | None = None
    for at, count in _levels(steps):
        partial = 0 < count < size
        if partial and since is None:
            since = at
        elif not partial and since is not None:
            yield Interval(since, at)
            since = None
    if since is not None:
        yield Interval(since, max(end, since), open=True)


def _levels(steps: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """Sum the steps up, one level for each moment."""
    at_once: dict[float, int] = {}
    for at, step in steps:
        at_once[at] = at_once.get(at, 0) + step
    level = 0
    for at in sorted(at_once):
        level += at_once[at]
        yield at, level
