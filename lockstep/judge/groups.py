"""The lives of one group: each has a leader of its own, and all of its pods are its.

LWS makes the workers after their leader and removes them with it, so a worker belongs to the leader
that was the newest when the worker came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.judge.history import Gang, History, Interval, Life, Pod


@dataclass(frozen=True)
class Generation:
    """One leader and the workers that were made for it, also those that replaced others."""

    key: str
    size: int
    leader: Pod
    workers: tuple[Pod, ...] = ()

    @property
    def pods(self) -> list[Pod]:
        """The leader and its workers."""
        return [self.leader, *self.workers]

    @property
    def began(self) -> float:
        """When its leader was made."""
        return self.leader.first.at

    @property
    def revision(self) -> str | None:
        """The template that it was made from."""
        return self.leader.first.facts.get("revision")

    @cached_property
    def whole_at(self) -> float | None:
        """When all of its pods first ran together."""
        spans = [(pod.running.at, _left(pod)) for pod in self.pods if pod.running]
        return next((at for at, count in _levels(spans) if count >= self.size), None)

    @property
    def whole(self) -> bool:
        """Whether all of its pods run, and are there to stay."""
        alive = [pod for pod in self.pods if pod.alive]
        return len(alive) == self.size and all(pod.is_running for pod in alive)

    @cached_property
    def broken_at(self) -> float | None:
        """When the first of its pods left, after it was whole."""
        if self.whole_at is None:
            return None
        leaving = [_left(p) for p in self.pods if _left(p) > self.whole_at]
        return min((at for at in leaving if at < float("inf")), default=None)

    def whole_until(self, at: float) -> bool:
        """Whether it was whole at a time: it had become so, and nobody had left."""
        there = [pod for pod in self.pods if pod.running and pod.running.at <= at < _left(pod)]
        return len(there) == self.size

    @cached_property
    def ended(self) -> float | None:
        """When its leader began to leave."""
        return self.leader.leaving.at if self.leader.leaving else None

    def binding(self, end: float) -> Interval | None:
        """The burst in which it was bound: from the first bind until all pods were, or one left.

        RecheckAt gaps are no fault of a scheduler: somebody took pods away from a whole gang.
        """
        spans = [(pod.bound.at, _left(pod)) for pod in self.pods if pod.bound]
        levels = _levels([span for span in spans if span[1] > span[0]])
        if not levels:
            return None
        first = levels[0][0]
        full = next((at for at, count in levels if count >= self.size), None)
        if full is not None:
            return Interval(first, full)
        gone = min((left for _, left in spans), default=end)
        return Interval(first, min(gone, end), open=gone > end)


def _left(pod: Pod) -> float:
    return pod.leaving.at if pod.leaving else float("inf")


def _levels(spans: Iterable[tuple[float, float]]) -> list[tuple[float, int]]:
    """Count at each beginning how many spans hold then."""
    known = sorted(spans)
    return [(at, sum(1 for start, end in known if start <= at < end)) for at, _ in known]


def of(gang: Gang) -> list[Generation]:
    """The generations of a group, oldest first."""
    leaders = sorted(
        (pod for pod in gang.pods if pod.first.facts.get("role") == "leader"),
        key=lambda pod: (pod.first.at, not pod.gone),
    )
    made: dict[str, list[Pod]] = {leader.first.uid: [] for leader in leaders}
    for pod in gang.pods:
        if pod.first.facts.get("role") == "leader":
            continue
        before = [leader for leader in leaders if leader.first.at <= pod.first.at]
        if before:
            made[before[-1].first.uid].append(pod)
    return [
        Generation(
            gang.key,
            int(leader.first.facts.get("size") or gang.size),
            leader,
            tuple(made[leader.first.uid]),
        )
        for leader in leaders
    ]


def pod_groups(history: History, at: float) -> list[Life]:
    """The PodGroups that were there at a time."""
    return [
        life
        for life in history.lives.get("podgroup", ())
        if life.first.at <= at and not (life.gone and life.last.at <= at)
    ]


def owned(history: History, generation: Generation, at: float) -> Life | None:
    """The PodGroup that belonged to this very leader, by its uid, at a time."""
    uid = generation.leader.first.uid
    groups = pod_groups(history, at)
    return next((one for one in groups if one.first.facts.get("ownerUid") == uid), None)


def standing(gangs: Sequence[Gang], at: float) -> list[Generation]:
    """The groups that were whole at a time, one for each gang that was."""
    return [life for gang in gangs for life in of(gang) if life.whole_until(at)]


def strays(history: History, groups: Sequence[Generation], at: float) -> list[str]:
    """What keeps the PodGroups at a time from being exactly those of the groups' own leaders."""
    found = [
        f"{group.leader.name} owns no PodGroup"
        for group in groups
        if owned(history, group, at) is None
    ]
    leaders = {group.leader.first.uid for group in groups}
    return found + [
        f"PodGroup {one.name} is one too many"
        for one in pod_groups(history, at)
        if one.last.facts.get("ownerUid") not in leaders
    ]


def slow_binding(
    history: History, generations: Sequence[Generation], burst: float
) -> tuple[Generation, Interval] | None:
    """The first generation that was bound in part for longer than one bind burst."""
    for generation in generations:
        binding = generation.binding(history.end)
        if binding is None:
            continue
        unseen = sum(binding.overlap(cut) for cut in history.cuts)
        if binding.end - binding.start - unseen > burst:
            return generation, binding
    return None


def longest_binding(generations: Sequence[Generation], end: float) -> float:
    """The longest burst in which one of them was bound, of those that were seen to come."""
    bursts = [life.binding(end) for life in generations if not life.leader.first.listed]
    return max((burst.end - burst.start for burst in bursts if burst), default=0.0)
