"""From a recording to lives: what became of each pod, gang, PodGroup and worker, and when.

Observations are sorted first and repeats left out, so that neither the order in which two watches
delivered nor a watch that told something twice changes a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lockstep.judge.model import Expectation
from lockstep.recording import Kind, Observation, Recording

_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Interval:
    """A stretch of time; `open` when it had not ended with the recording."""

    start: float
    end: float
    open: bool = False

    def overlap(self, other: Interval) -> float:
        """Seconds that two stretches have in common."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))


@dataclass(frozen=True)
class Life:
    """All observations of one object, oldest first. The same name with another uid is another."""

    story: tuple[Observation, ...]

    @property
    def first(self) -> Observation:
        """The first sight."""
        return self.story[0]

    @property
    def last(self) -> Observation:
        """The newest state."""
        return self.story[-1]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.first.name

    @property
    def gone(self) -> bool:
        """Whether it was deleted."""
        return self.last.change == "DELETED"


class Pod(Life):
    """A pod's way: created, bound, running, leaving."""

    @cached_property
    def bound(self) -> Observation | None:
        """The observation that first showed it on a node."""
        return next((seen for seen in self.story if seen.facts.get("node")), None)

    @cached_property
    def leaving(self) -> Observation | None:
        """The observation that first showed it finished, being deleted or gone."""
        return next((seen for seen in self.story if _leaves(seen)), None)

    @cached_property
    def running(self) -> Observation | None:
        """The observation that first showed it running."""
        return next((seen for seen in self.story if seen.facts.get("phase") == "Running"), None)

    @property
    def alive(self) -> bool:
        """Whether it is there to stay."""
        return self.leaving is None

    @property
    def exactly_bound(self) -> bool:
        """Whether a watch told of the binding, so that its time is known."""
        return self.bound is not None and not self.bound.listed

    @property
    def is_running(self) -> bool:
        """Whether it runs now."""
        return self.alive and self.last.facts.get("phase") == "Running"


def _leaves(seen: Observation) -> bool:
    facts = seen.facts
    return seen.change == "DELETED" or bool(facts.get("deleting")) or facts["phase"] in _FINISHED


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


@dataclass(frozen=True)
class History:
    """A recording, told by object."""

    recording: Recording
    lives: dict[Kind, list[Life]] = field(default_factory=dict)

    @classmethod
    def of(cls, recording: Recording, namespace: str) -> History:
        """Tell what happened in one namespace, and on the workers."""
        stories: dict[tuple[Kind, str], list[Observation]] = {}
        done: set[tuple[str, str, str]] = set()
        for seen in sorted(recording.observations, key=_order):
            told = (seen.uid, seen.version, seen.change)
            if told in done or (seen.kind != "node" and seen.namespace != namespace):
                continue
            done.add(told)
            stories.setdefault((seen.kind, seen.uid), []).append(seen)
        lives: dict[Kind, list[Life]] = {}
        for (kind, _), story in stories.items():
            make = Pod if kind == "pod" else Life
            lives.setdefault(kind, []).append(make(tuple(story)))
        return cls(recording, lives)

    @property
    def end(self) -> float:
        """Until when it is known."""
        return self.recording.end

    @cached_property
    def pods(self) -> list[Pod]:
        """Every pod that was ever seen."""
        return [life for life in self.lives.get("pod", ()) if isinstance(life, Pod)]

    def living(self, kind: Kind) -> list[Life]:
        """Objects of a kind that are there."""
        return [life for life in self.lives.get(kind, ()) if not life.gone]

    @cached_property
    def cuts(self) -> list[Interval]:
        """Stretches in which the pods were not followed, so that they have no times."""
        found: list[Interval] = []
        since: float | None = None
        for mark in sorted(self.recording.marks, key=lambda mark: mark.at):
            if mark.kind != "pod":
                continue
            if mark.mark == "cut" and since is None:
                since = mark.at
            elif mark.mark in ("resumed", "relisted") and since is not None:
                found.append(Interval(since, mark.at))
                since = None
        if since is not None:
            found.append(Interval(since, max(self.end, since), open=True))
        return found

    def gangs(self, expectation: Expectation) -> list[Gang]:
        """The expected gangs, empty ones included, and after them any that should not be."""
        workload = str(expectation.workload)
        mine = [pod for pod in self.pods if pod.first.facts.get("workload") == workload]
        if not expectation.workload.is_grouped:
            return [Gang(expectation.workload.name, expectation.pods, tuple(mine))]
        names = [f"{expectation.workload.name}-{index}" for index in range(expectation.groups)]
        members: dict[str, list[Pod]] = {name: [] for name in names}
        for pod in mine:
            members.setdefault(str(pod.first.facts.get("group")), []).append(pod)
        return [Gang(name, expectation.size, tuple(pods)) for name, pods in members.items()]

    def taint_removals(self) -> list[tuple[float, str]]:
        """When a worker was freed, and which."""
        return [(at, node) for at, node, freed in self._taint_changes() if freed]

    def last_change(self) -> float:
        """When something last changed that may change what the scheduler can do."""
        times = [at for at, _, _ in self._taint_changes()]
        times += [pod.first.at for pod in self.pods]
        return max(times, default=0.0)

    def _taint_changes(self) -> list[tuple[float, str, bool]]:
        found: list[tuple[float, str, bool]] = []
        for node in self.lives.get("node", ()):
            before = _taints(node.first)
            for seen in node.story[1:]:
                now = _taints(seen)
                if now != before:
                    found.append((seen.at, node.name, bool(before - now)))
                before = now
        return sorted(found)


def _taints(seen: Observation) -> frozenset[tuple[Any, ...]]:
    """Blocking taints: the others keep no pod away."""
    return frozenset(
        (taint.get("key"), taint.get("value"), taint.get("effect"))
        for taint in seen.facts.get("taints") or ()
        if taint.get("effect") in ("NoSchedule", "NoExecute")
    )


def _order(seen: Observation) -> tuple[float, int, bool, str, str]:
    """Sort by time; at one time by version, which rises with each change of one object."""
    version = int(seen.version) if seen.version.isdigit() else 0
    return (seen.at, version, seen.change == "DELETED", seen.uid, seen.version)
