"""Incarnations of groups: one leader pod and the workers that were created for it.

LWS creates the workers after their leader and deletes them with it, so a worker belongs to the
leader that was the newest when the worker was created.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.judge import limits
from lockstep.judge.history import (
    History,
    Interval,
    ObjectHistory,
    ObservedGang,
    PodHistory,
    count_at_starts,
    lateness,
)


@dataclass(frozen=True)
class Incarnation:
    """One leader and the workers that were created for it, also those that replaced others."""

    key: str
    """The name of the group."""
    size: int
    leader: PodHistory
    workers: tuple[PodHistory, ...] = ()

    @property
    def pods(self) -> list[PodHistory]:
        """The leader and its workers."""
        return [self.leader, *self.workers]

    @property
    def bound_pods(self) -> list[PodHistory]:
        """Pods that were bound, also those that are terminating or deleted."""
        return [pod for pod in self.pods if pod.bound]

    @property
    def began(self) -> float:
        """When the leader was created."""
        return self.leader.first.at

    @property
    def revision(self) -> str | None:
        """The revision of the template that the leader was created from."""
        return self.leader.first.facts.get("revision")

    @cached_property
    def completed_at(self) -> float | None:
        """When all pods first ran at the same time."""
        spans = [(pod.running.at, pod.ends) for pod in self.pods if pod.running]
        return self._first_full(spans)

    @cached_property
    def fully_bound_at(self) -> float | None:
        """When all pods were first bound at the same time."""
        return self._first_full(self._bound_spans())

    @property
    def broken_at(self) -> float:
        """When the first pod began to terminate after all were bound; infinite if none did."""
        full = math.inf if self.fully_bound_at is None else self.fully_bound_at
        return min((pod.ends for pod in self.bound_pods if pod.ends > full), default=math.inf)

    @property
    def is_complete(self) -> bool:
        """Whether all pods run, and none is terminating."""
        alive = [pod for pod in self.pods if pod.alive]
        return len(alive) == self.size and all(pod.is_running for pod in alive)

    def was_complete_at(self, at: float) -> bool:
        """Whether all pods ran at a time, and none had begun to terminate."""
        there = [pod for pod in self.pods if pod.running and pod.running.at <= at < pod.ends]
        return len(there) == self.size

    def binding(self, end: float) -> Interval | None:
        """The burst from the first bind until all pods were bound, or no pod was left.

        Later gaps are no fault of the scheduler: something removed pods of a complete gang.
        """
        spans = self._bound_spans()
        held = [span for span in spans if span[1] > span[0]]
        if not held:
            return None
        first = min(held)[0]
        late = self.lateness_at(first)
        full = self._first_full(held)
        if full is not None:
            return Interval(first, full, start_late=late, end_late=self.lateness_at(full))
        left = max(end for _, end in held)
        if left > end:
            return Interval(first, max(first, end), open=True, start_late=late)
        return Interval(first, left, start_late=late, end_late=self.lateness_at(left))

    def lateness_at(self, at: float) -> float:
        """How late the binds and the ends that were observed at a time may be told."""
        seen = [one for pod in self.pods for one in (pod.bound, pod.terminating)]
        return max(lateness(one) for one in seen if one and one.at == at)

    def _bound_spans(self) -> list[tuple[float, float]]:
        return [(pod.bound.at, pod.ends) for pod in self.pods if pod.bound]

    def _first_full(self, spans: Iterable[tuple[float, float]]) -> float | None:
        return next((at for at, count in count_at_starts(spans) if count >= self.size), None)


def incarnations(gang: ObservedGang) -> list[Incarnation]:
    """The incarnations of a group, oldest first."""
    leaders = [pod for pod in gang.pods if pod.first.facts.get("role") == "leader"]
    workers: dict[str, list[PodHistory]] = {leader.uid: [] for leader in leaders}
    for pod in gang.pods:
        if pod.first.facts.get("role") == "leader":
            continue
        before = [leader for leader in leaders if leader.first.at <= pod.first.at]
        if before:
            workers[before[-1].uid].append(pod)
    return [
        Incarnation(
            gang.key,
            int(leader.first.facts.get("size") or gang.size),
            leader,
            tuple(workers[leader.uid]),
        )
        for leader in leaders
    ]


def all_incarnations(gangs: Iterable[ObservedGang]) -> list[Incarnation]:
    """Every incarnation of some gangs."""
    return [one for gang in gangs for one in incarnations(gang)]


def complete_at(gangs: Iterable[ObservedGang], at: float) -> list[Incarnation]:
    """The groups that were complete at a time."""
    return [one for one in all_incarnations(gangs) if one.was_complete_at(at)]


def pod_group_of(history: History, group: Incarnation, at: float) -> ObjectHistory | None:
    """The PodGroup that this very leader owned, by its uid, at a time."""
    existing = (one for one in history.all("podgroup") if one.exists_at(at))
    return next((one for one in existing if _owner_at(one, at) == group.leader.uid), None)


def _owner_at(group: ObjectHistory, at: float) -> str | None:
    """The uid of the owner that a PodGroup had at a time at which it existed."""
    states = [seen for seen in group.observations if seen.at <= at]
    return states[-1].facts.get("ownerUid")


def wrong_pod_groups(history: History, groups: Sequence[Incarnation], at: float) -> list[str]:
    """How the PodGroups at a time differ from exactly those of the groups' own leaders."""
    found = [
        f"{group.leader.name} owns no PodGroup"
        for group in groups
        if pod_group_of(history, group, at) is None
    ]
    leaders = {group.leader.uid for group in groups}
    return found + [
        f"unexpected PodGroup {one.name}"
        for one in history.all("podgroup")
        if one.exists_at(at) and _owner_at(one, at) not in leaders
    ]


@dataclass(frozen=True)
class PartlyBound:
    """A stretch in which some pods of a gang, but not all, were bound."""

    gang: ObservedGang
    size: int
    pods: Sequence[PodHistory]
    """The pods that belong together in this stretch."""
    interval: Interval
    completed: bool
    """Whether it ended with the bind of the last pod; a gang that ends also loses pod by pod."""
    ending: bool = False
    """Whether it began with the loss of a pod of a complete gang, which may be about to end."""

    @property
    def is_too_long(self) -> bool:
        """Whether it lasted for longer than a bind burst, however late its changes may be told.

        A gang that was partly bound when the recording began has been so for an unknown time.
        """
        interval = self.interval
        was_found = interval.start_late == math.inf and interval.end > interval.start
        return (was_found and self.completed) or interval.at_least > self.limit

    @property
    def limit(self) -> float:
        """The longest time that such a stretch may take."""
        return limits.ENDING if self.ending else limits.BURST

    @property
    def bound(self) -> list[PodHistory]:
        """Pods that were bound in this stretch."""
        start, end = self.interval.start, self.interval.end
        return [
            pod
            for pod in self.pods
            if pod.bound
            and pod.ends > start
            and (pod.bound.at < end or (self.interval.open and pod.alive))
        ]


def binding_bursts(history: History, gangs: Iterable[ObservedGang]) -> Iterator[PartlyBound]:
    """The binding of each incarnation of some gangs; how a gang ends is left out."""
    for gang in gangs:
        for one in incarnations(gang):
            if burst := one.binding(history.end):
                completed = one.fully_bound_at == burst.end
                yield PartlyBound(gang, one.size, one.pods, burst, completed)


def partly_bound(history: History, gangs: Iterable[ObservedGang]) -> Iterator[PartlyBound]:
    """Every stretch in which gangs were partly bound, also after they were complete.

    Pods of another revision or size are another gang: an update replaces one gang by the other.
    """
    for gang in gangs:
        by_template: dict[tuple[Any, int], list[PodHistory]] = {}
        for pod in gang.pods:
            facts = pod.first.facts
            template = (facts.get("revision"), int(facts.get("size") or gang.size))
            by_template.setdefault(template, []).append(pod)
        for (_, size), pods in by_template.items():
            for interval, completed, ending in _partial_intervals(pods, size, history.end):
                yield PartlyBound(gang, size, pods, interval, completed, ending)


def _partial_intervals(
    pods: Iterable[PodHistory], size: int, end: float
) -> Iterator[tuple[Interval, bool, bool]]:
    """Find when some of the pods, but not all, were bound; whether all were after it, and before.

    A pod counts from its bind until it begins to terminate: a group that is deleted as a whole
    loses its pods one after the other, and that is no fault of the scheduler.
    """
    changes: dict[float, int] = {}
    late: dict[float, float] = {}
    for pod in pods:
        if pod.bound and pod.ends > pod.bound.at:
            for seen, change in ((pod.bound, 1), (pod.terminating, -1)):
                if seen:
                    changes[seen.at] = changes.get(seen.at, 0) + change
                    late[seen.at] = max(late.get(seen.at, 0.0), lateness(seen))
    count = 0
    stretch: tuple[float, bool] | None = None
    for at in sorted(changes):
        before, count = count, count + changes[at]
        partial = 0 < count < size
        if partial and stretch is None:
            stretch = at, before >= size
        elif not partial and stretch is not None:
            since, was_full = stretch
            interval = Interval(since, at, start_late=late[since], end_late=late[at])
            yield interval, count >= size, was_full
            stretch = None
    if stretch is not None:
        since, was_full = stretch
        interval = Interval(since, max(end, since), open=True, start_late=late[since])
        yield interval, False, was_full
