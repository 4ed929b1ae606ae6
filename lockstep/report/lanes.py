"""The states of each pod over time, as the picture shows them.

The states are the argument: a bound pod whose gang is not complete occupies its node and cannot
work. It is `stranded`, whichever scheduler bound it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

from lockstep.judge import limits
from lockstep.report.receipt import Receipt
from lockstep.report.timeline import PodTimeline

State = Literal["waiting", "bound", "running", "stranded"]

BURST_SECONDS = limits.BURST
"""The pods of a gang are bound one after another: for this long, an incomplete gang is normal."""
MOST_POD_LANES = 24
"""The picture of more pods than this has one lane per gang."""
MOST_GANGS_BY_POD = 2
"""So has the picture of more gangs than this: the question is then which gangs are complete."""


@dataclass(frozen=True)
class Span:
    """A state with its start and end."""

    start: float
    end: float
    state: State


@dataclass(frozen=True)
class GangLanes:
    """The pods of one gang, and how many of them were bound when."""

    name: str | None
    """The gang's name; None for pods that no gang scheduler knows to belong together."""
    size: int
    pods: Sequence[PodTimeline]
    end: float
    """The end of the recording."""

    @cached_property
    def steps(self) -> list[tuple[float, int]]:
        """Each time at which the number of bound pods changed, with the new number."""
        changes: Counter[float] = Counter()
        for pod in self.pods:
            if pod.bound is not None:
                changes[pod.bound] += 1
                if pod.ended is not None:
                    changes[pod.ended] -= 1
        times = sorted(changes)
        return list(zip(times, accumulate(changes[time] for time in times), strict=True))

    @property
    def spells(self) -> list[tuple[float, float, int]]:
        """Start, end and number of bound pods of each time between two changes."""
        edges = pairwise([*self.steps, (self.end, 0)])
        return [(start, end, number) for (start, number), (end, _) in edges]

    @property
    def most_bound(self) -> int:
        """The largest number of pods that were bound at the same time."""
        return max((number for _, number in self.steps), default=0)

    @cached_property
    def incomplete(self) -> list[tuple[float, float]]:
        """When some but not all pods were bound, without bind bursts."""
        parts = [(start, end) for start, end, number in self.spells if 0 < number < self.size]
        # A part that lasts until the end is no burst: the gang was not seen to become complete.
        return [
            (start, end)
            for start, end in _merged(parts)
            if end - start > BURST_SECONDS or end >= self.end
        ]

    @property
    def present(self) -> list[tuple[float, float]]:
        """When any pod of the gang existed; a gang that ends may be recreated later."""
        return _merged(sorted((pod.created, self._until(pod)) for pod in self.pods))

    def spans(self, pod: PodTimeline) -> list[Span]:
        """Divide a pod's lifetime into states."""
        until = self._until(pod)
        if pod.bound is None:
            return [Span(pod.created, until, "waiting")]
        edges = {pod.bound, until, *(edge for part in self.incomplete for edge in part)}
        if pod.running is not None:
            edges.add(pod.running)
        inside = sorted(edge for edge in edges if pod.bound <= edge <= until)
        spans = [Span(pod.created, pod.bound, "waiting")]
        for start, end in pairwise(inside):
            state = self._state(pod, start)
            if spans[-1].state == state:
                spans[-1] = Span(spans[-1].start, end, state)
            else:
                spans.append(Span(start, end, state))
        return [span for span in spans if span.end > span.start]

    def is_incomplete(self, time: float) -> bool:
        """Whether the gang was incomplete at a time, bind bursts aside."""
        return any(start <= time < end for start, end in self.incomplete)

    def _state(self, pod: PodTimeline, time: float) -> State:
        if self.is_incomplete(time):
            return "stranded"
        return "running" if pod.running is not None and pod.running <= time else "bound"

    def _until(self, pod: PodTimeline) -> float:
        return self.end if pod.ended is None else pod.ended


def gang_lanes(receipt: Receipt) -> list[GangLanes]:
    """Sort a receipt's pods into gangs; pods outside any gang count as one workload."""
    members: dict[str | None, list[PodTimeline]] = {}
    for pod in receipt.timeline.pods:
        members.setdefault(pod.group, []).append(pod)
    expectation = receipt.expectation
    return [
        GangLanes(
            name=name,
            size=expectation.pods if name is None else expectation.size,
            pods=sorted(pods, key=lambda pod: _natural(pod.name)),
            end=receipt.timeline.end,
        )
        for name, pods in sorted(members.items(), key=lambda item: _natural(item[0] or ""))
    ]


def crowded(gangs: Sequence[GangLanes]) -> bool:
    """Whether one lane per gang is clearer than one lane per pod."""
    pods = sum(len(gang.pods) for gang in gangs)
    return pods > MOST_POD_LANES or len(gangs) > MOST_GANGS_BY_POD


def _merged(times: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join times that touch or overlap; `times` are sorted by start."""
    merged: list[tuple[float, float]] = []
    for start, end in times:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key under which gang-10 comes after gang-9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]
