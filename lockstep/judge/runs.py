"""The runs of gangs that come and go: when each was whole, for how long, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lockstep.judge import generations
from lockstep.judge.generations import Generation
from lockstep.judge.history import Gang, History


@dataclass(frozen=True)
class Run:
    """A gang that ran whole."""

    generation: Generation
    start: float
    """When the last of its pods was bound."""
    end: float
    """When the first of its pods left, or the recording ended."""
    over: bool
    """Whether one left."""

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
        return all(pod.exactly_bound for pod in self.generation.pods if pod.bound)


def of(history: History, gangs: Iterable[Gang]) -> list[Run]:
    """Every run of some gangs, in the order in which they began."""
    found = []
    for gang in gangs:
        for generation in generations.of(gang):
            binding = generation.binding(history.end)
            if generation.whole_at is not None and binding is not None:
                left = [pod.leaving.at for pod in generation.pods if pod.leaving]
                end = min(left, default=history.end)
                found.append(Run(generation, binding.end, end, over=bool(left)))
    return sorted(found, key=lambda run: (run.start, run.key))


def most_at_once(runs: Sequence[Run]) -> int:
    """How many gangs were whole at the same time, at most."""
    return max(
        (sum(1 for other in runs if other.start <= run.start < other.end) for run in runs),
        default=0,
    )


def most_places(gangs: Iterable[Gang]) -> int:
    """How many pods held a place at the same time, at most; those that leave give it up."""
    spans = [
        (pod.bound.at, pod.leaving.at if pod.leaving else float("inf"))
        for gang in gangs
        for pod in gang.pods
        if pod.bound
    ]
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
        "gangsCompleted": len(_over(runs)),
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
            left = pod.leaving.at if pod.leaving else history.end
            total += max(0.0, min(left, end) - max(pod.bound.at, start))
    return total
