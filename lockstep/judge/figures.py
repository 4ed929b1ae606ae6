"""The runs of gangs that come and go: when each was whole, for how long, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lockstep.judge import groups as generations
from lockstep.judge.groups import Generation
from lockstep.judge.history import Gang, History, Pod


@dataclass(frozen=True)
class Run:
    """A gang that was bound whole."""

    generation: Generation
    start: float
    """When the last of its pods was bound."""
    end: float
    """When the first of its pods left, or the recording ended."""
    over: bool
    """Whether one left."""

    @property
    def running(self) -> bool:
        """Whether all of its pods were seen to run together."""
        return self.generation.whole_at is not None

    @property
    def ending(self) -> float:
        """How long its other pods kept their places after the first had left."""
        return max(0.0, max(map(_left, self._bound), default=self.end) - self.end)

    @property
    def lingers(self) -> bool:
        """Whether a pod of it keeps its place though another has left."""
        return self.over and any(pod.alive for pod in self._bound)

    @property
    def _bound(self) -> list[Pod]:
        return [pod for pod in self.generation.pods if pod.bound]

    @property
    def key(self) -> str:
        """The gang."""
        return self.generation.key

    @property
    def wait(self) -> float:
        """How long it waited, from the creation of its leader."""
        return max(0.0, self.start - self.generation.began)

    @property
    def bound_exactly(self) -> bool:
        """Whether a watch told of every binding, so that their times are known."""
        return all(pod.exactly_bound for pod in self._bound)


def of(history: History, gangs: Iterable[Gang]) -> list[Run]:
    """Every run of some gangs, in the order in which they began."""
    found = []
    for gang in gangs:
        for generation in generations.of(gang):
            start = _whole_from(generation)
            if start is not None:
                end = min(_left(pod) for pod in generation.pods if pod.bound)
                over = end <= history.end
                found.append(Run(generation, start, min(end, history.end), over))
    return sorted(found, key=lambda run: (run.start, run.key))


def _left(pod: Pod) -> float:
    return pod.leaving.at if pod.leaving else float("inf")


def _whole_from(generation: Generation) -> float | None:
    """When the last pod of a gang was bound, all others being there still."""
    spans = sorted((pod.bound.at, _left(pod)) for pod in generation.pods if pod.bound)
    for at, _ in spans:
        if sum(1 for start, end in spans if start <= at < end) >= generation.size:
            return at
    return None


def most_at_once(runs: Sequence[Run]) -> int:
    """How many gangs were whole at the same time, at most."""
    return max(
        (sum(1 for other in runs if other.start <= run.start < other.end) for run in runs),
        default=0,
    )


def most_places(gangs: Iterable[Gang]) -> tuple[int, int]:
    """How many pods held a place at the same time, at most: of gangs, and of gangs that end, too.

    A pod that leaves gives its place up. A gang that has run ends when its first pod leaves.
    """
    active: list[tuple[float, float]] = []
    every: list[tuple[float, float]] = []
    for life in (life for gang in gangs for life in generations.of(gang)):
        bound = [pod for pod in life.pods if pod.bound]
        end = min(map(_left, bound), default=0.0)
        whole = _whole_from(life) is not None
        for pod in bound:
            start = pod.bound.at if pod.bound else 0.0
            every.append((start, _left(pod)))
            active.append((start, end if whole else _left(pod)))
    return _most(active), _most(every)


def _most(spans: Sequence[tuple[float, float]]) -> int:
    return max((sum(1 for s, e in spans if s <= start < e) for start, _ in spans), default=0)


def handovers(runs: Sequence[Run]) -> list[float]:
    """How long it took, after each run, until the next gang was whole."""
    starts = [run.start for run in runs]
    after = [[start for start in starts if start >= run.end] for run in runs if run.over]
    return [min(later) - run.end for run, later in zip(_over(runs), after, strict=True) if later]


def _over(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.over]


def longest_bind_skew(history: History, runs: Sequence[Run]) -> float | None:
    """Last minus first bind of one gang, the longest of those whose times are all known."""
    skews = []
    for run in runs:
        binding = run.generation.binding(history.end)
        if binding is None or not run.bound_exactly:
            continue
        if not any(cut.start <= binding.end and binding.start <= cut.end for cut in history.cuts):
            skews.append(binding.end - binding.start)
    return max(skews, default=None)


def figures(history: History, gangs: Sequence[Gang], runs: Sequence[Run]) -> dict[str, float]:
    """What a crowd of gangs got done and what it cost, in figures that compare two schedulers.

    A pod holds its place from its binding until it leaves: usefully while its gang is whole, in
    vain before that, and after that as long as it takes to end a gang.
    """
    lives = [life for gang in gangs for life in generations.of(gang)]
    ran = {run.generation.leader.first.uid: run for run in runs}
    useful = wasted = ending = 0.0
    waits = [run.wait for run in runs]
    for life in lives:
        run = ran.get(life.leader.first.uid)
        start, end = (run.start, run.end) if run else (history.end, history.end)
        wasted += _held(life, history, 0.0, start)
        useful += _held(life, history, start, end)
        ending += _held(life, history, end, history.end)
        if run is None and life.leader.alive:
            waits.append(history.end - life.began)
    first = min((life.began for life in lives), default=history.end)
    return {
        "watchedSeconds": history.end - first,
        "gangsCompleted": sum(1 for run in _over(runs) if run.running),
        "gangsAtOnce": most_at_once(runs),
        "podSecondsUseful": useful,
        "podSecondsWasted": wasted,
        "podSecondsEnding": ending,
        "longestWaitSeconds": max(waits, default=0.0),
    }


def _held(life: Generation, history: History, start: float, end: float) -> float:
    """Pod-seconds for which the pods of a gang held their places within a stretch of time."""
    total = 0.0
    for pod in life.pods:
        if pod.bound:
            left = min(_left(pod), history.end, end)
            total += max(0.0, left - max(pod.bound.at, start))
    return total
