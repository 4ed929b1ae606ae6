"""The history of each object in a recording: pods, gangs, PodGroups and workers over time.

Observations are sorted first and repeats left out, so that neither the order in which two watches
delivered nor an observation that was delivered twice changes a verdict.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.judge.limits import LATE
from lockstep.judge.model import Expectation, Workload
from lockstep.recording.facts import BLOCKING, FINISHED
from lockstep.recording.model import Kind, Observation, Recording, version_number

RENEWED = "recreated for a new proof"
"""Topic of the mark before which pods are of no interest: they are deleted after it."""

# Objects without a namespace, and Volcano's scheduler, which is in a namespace of its own.
_NOT_NAMESPACED = ("node", "scheduler")


@dataclass(frozen=True)
class Interval:
    """A stretch of time; `open` when it had not ended by the end of the recording."""

    start: float
    end: float
    open: bool = False
    start_late: float = 0.0
    """It began at most so many seconds before `start`; infinite if before the recording."""
    end_late: float = 0.0
    """It ended at most so many seconds before `end`."""

    @property
    def at_least(self) -> float:
        """The shortest time that it can have lasted."""
        return max(0.0, self.end - self.end_late - self.start)

    @property
    def at_most(self) -> float:
        """The longest time that it can have lasted."""
        return self.end - self.start + self.start_late

    def overlap(self, other: Interval) -> float:
        """Seconds that both stretches have in common."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))


@dataclass(frozen=True)
class ObjectHistory:
    """All observations of one object, oldest first; another uid is another object."""

    observations: tuple[Observation, ...]

    @property
    def first(self) -> Observation:
        """The first observation."""
        return self.observations[0]

    @property
    def last(self) -> Observation:
        """The newest observation."""
        return self.observations[-1]

    @property
    def name(self) -> str:
        """The object's name."""
        return self.first.name

    @property
    def uid(self) -> str:
        """The object's uid."""
        return self.first.uid

    @property
    def deleted(self) -> bool:
        """Whether the object was deleted."""
        return self.last.change == "DELETED"

    @property
    def preexisting(self) -> bool:
        """Whether the object existed when the recording began, so its creation was not seen."""
        return self.first.late is None

    def exists_at(self, at: float) -> bool:
        """Whether the object existed at a time."""
        return self.first.at <= at and not (self.deleted and self.last.at <= at)


class PodHistory(ObjectHistory):
    """A pod from its creation to its deletion."""

    @cached_property
    def bound(self) -> Observation | None:
        """The observation that first showed the pod on a node."""
        return next((seen for seen in self.observations if seen.facts.get("node")), None)

    @cached_property
    def running(self) -> Observation | None:
        """The observation that first showed the pod running."""
        states = (seen for seen in self.observations if seen.facts.get("phase") == "Running")
        return next(states, None)

    @cached_property
    def terminating(self) -> Observation | None:
        """The observation that first showed the pod finished, being deleted or deleted."""
        return next((seen for seen in self.observations if _terminates(seen)), None)

    @property
    def ends(self) -> float:
        """When the pod began to terminate; infinite if it did not."""
        return self.terminating.at if self.terminating else math.inf

    @property
    def alive(self) -> bool:
        """Whether the pod exists and is not terminating."""
        return self.terminating is None

    @property
    def exactly_bound(self) -> bool:
        """Whether a watch reported the bind as it happened, so that its time is known."""
        return self.bound is not None and not self.bound.listed and lateness(self.bound) <= LATE

    @property
    def bound_at_start(self) -> bool:
        """Whether the pod was bound already when the recording began."""
        return self.bound is not None and self.bound.late is None

    @property
    def is_running(self) -> bool:
        """Whether the pod runs now."""
        return self.alive and self.last.facts.get("phase") == "Running"


def lateness(seen: Observation) -> float:
    """By how many seconds a change may be older than its time; infinite if by any number."""
    return math.inf if seen.late is None else seen.late


def _terminates(seen: Observation) -> bool:
    facts = seen.facts
    return seen.change == "DELETED" or bool(facts.get("deleting")) or facts["phase"] in FINISHED


def is_split(pods: Iterable[PodHistory], size: int) -> bool:
    """Whether so many pods exist, some are bound, and the scheduler has refused all others."""
    alive = [pod for pod in pods if pod.alive]
    waiting = [pod for pod in alive if not pod.bound]
    is_refused = all(pod.last.facts.get("unschedulable") for pod in waiting)
    return len(alive) == size and 0 < len(waiting) < size and is_refused


def bind_times(pods: Iterable[PodHistory]) -> list[float]:
    """When each of the pods that are bound was bound."""
    return [pod.bound.at for pod in pods if pod.bound]


def count_at_starts(spans: Iterable[tuple[float, float]]) -> list[tuple[float, int]]:
    """For each start of a span, in order: the time, and how many spans contain it."""
    known = sorted(spans)
    return [(at, sum(1 for start, end in known if start <= at < end)) for at, _ in known]


@dataclass(frozen=True)
class ObservedGang:
    """The pods of one gang, including those that were deleted and recreated."""

    key: str
    size: int
    pods: tuple[PodHistory, ...] = ()

    @property
    def alive(self) -> list[PodHistory]:
        """Pods that exist and are not terminating."""
        return [pod for pod in self.pods if pod.alive]

    @property
    def bound(self) -> list[PodHistory]:
        """Pods that are alive and have a node."""
        return [pod for pod in self.alive if pod.bound]

    @property
    def waiting(self) -> list[PodHistory]:
        """Pods that are alive and have no node."""
        return [pod for pod in self.alive if not pod.bound]

    @property
    def is_complete(self) -> bool:
        """Whether every pod of the gang runs."""
        alive = self.alive
        return len(alive) == self.size and all(pod.is_running for pod in alive)


@dataclass(frozen=True)
class History:
    """A recording, sorted by object."""

    recording: Recording
    objects: dict[Kind, list[ObjectHistory]]

    @classmethod
    def of(cls, recording: Recording, namespace: str) -> History:
        """Collect the histories of the objects in one namespace, and of the workers."""
        by_object: dict[tuple[Kind, str], list[Observation]] = {}
        done: set[tuple[str, str, str]] = set()
        for seen in sorted(recording.observations, key=_order):
            identity = (seen.uid, seen.version, seen.change)
            is_elsewhere = seen.kind not in _NOT_NAMESPACED and seen.namespace != namespace
            if identity in done or is_elsewhere:
                continue
            done.add(identity)
            by_object.setdefault((seen.kind, seen.uid), []).append(seen)
        objects: dict[Kind, list[ObjectHistory]] = {}
        for (kind, _), observations in by_object.items():
            make = PodHistory if kind == "pod" else ObjectHistory
            objects.setdefault(kind, []).append(make(tuple(observations)))
        return cls(recording, objects)

    @property
    def end(self) -> float:
        """The time until which everything is known."""
        return self.recording.end

    def all(self, kind: Kind) -> list[ObjectHistory]:
        """Every object of a kind that was ever observed."""
        return self.objects.get(kind, [])

    def existing(self, kind: Kind) -> list[ObjectHistory]:
        """Objects of a kind that exist now."""
        return [one for one in self.all(kind) if not one.deleted]

    @cached_property
    def pods(self) -> list[PodHistory]:
        """Every pod that was ever observed, but for those that were replaced for a new proof."""
        renewals = [mark.at for mark in self.recording.marks if mark.topic == RENEWED]
        since = max(renewals, default=-math.inf)
        return [
            pod for pod in self.all("pod") if isinstance(pod, PodHistory) and pod.first.at > since
        ]

    @cached_property
    def alive(self) -> frozenset[str]:
        """The uids of the pods that are alive."""
        return frozenset(pod.uid for pod in self.pods if pod.alive)

    @cached_property
    def cuts(self) -> list[Interval]:
        """Stretches in which the watch of pods was interrupted, so that changes came late."""
        return self._interruptions("pod", ("resumed", "relisted"))

    def gaps(self, kind: Kind) -> list[Interval]:
        """Stretches of which only the outcome is known, as the API server had no history left."""
        return self._interruptions(kind, ("relisted",))

    def _interruptions(self, kind: Kind, ends: tuple[str, ...]) -> list[Interval]:
        found: list[Interval] = []
        since: float | None = None
        for status in sorted(self.recording.watch_log, key=lambda status: status.at):
            if status.kind != kind:
                continue
            if status.state == "cut":
                since = status.at if since is None else since
            elif since is not None:
                found += [Interval(since, status.at)] if status.state in ends else []
                since = None
        if since is not None:
            found.append(Interval(since, max(self.end, since), open=True))
        return found

    def gangs(
        self, expectation: Expectation, workload: Workload | None = None
    ) -> list[ObservedGang]:
        """The expected gangs of a workload, even if empty, then any that are not expected."""
        workload = workload or expectation.workload
        mine = [pod for pod in self.pods if pod.first.facts.get("workload") == str(workload)]
        if not workload.is_grouped:
            return [ObservedGang(workload.name, expectation.pods, tuple(mine))]
        names = [f"{workload.name}-{index}" for index in range(expectation.groups)]
        members: dict[str, list[PodHistory]] = {name: [] for name in names}
        for pod in mine:
            members.setdefault(str(pod.first.facts.get("group")), []).append(pod)
        return [ObservedGang(name, expectation.size, tuple(pods)) for name, pods in members.items()]

    def taint_removals(self) -> list[tuple[Observation, str]]:
        """What showed that a worker was unblocked, and its name."""
        return [
            (now, node.name)
            for node in self.all("node")
            for before, now in itertools.pairwise(node.observations)
            if _blocking_taints(before) and not _blocking_taints(now)
        ]

    def last_change(self) -> float:
        """When a pod was created last, or the room on a worker changed."""
        times = [pod.first.at for pod in self.pods]
        for node in self.all("node"):
            changes = itertools.pairwise(node.observations)
            times += [now.at for before, now in changes if _room(now) != _room(before)]
            times.append(node.first.at)
        return max(times)


def _room(node: Observation) -> tuple[Any, ...]:
    """What decides which pods may be bound to a node."""
    facts = node.facts
    return (
        node.change == "DELETED",
        _blocking_taints(node),
        *map(facts.get, ("unschedulable", "cpu", "memory")),
    )


def _blocking_taints(seen: Observation) -> frozenset[tuple[Any, ...]]:
    """Taints that keep pods away from a worker; PreferNoSchedule does not."""
    return frozenset(
        (taint.get("key"), taint.get("value"), taint.get("effect"))
        for taint in seen.facts.get("taints") or ()
        if taint.get("effect") in BLOCKING
    )


def _order(seen: Observation) -> tuple[float, int, bool, str, str]:
    """Sort by time; at one time by version, which rises with each change of one object."""
    return (seen.at, version_number(seen.version), seen.change == "DELETED", seen.uid, seen.version)
