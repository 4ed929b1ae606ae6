"""What to draw: for each pod of a receipt, which state it was in from when to when.

The states are the argument. A bound pod whose gang is not complete holds its node and can do
nothing with it: it is `stranded`, whichever scheduler put it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

from lockstep.judge.model import Limits
from lockstep.report import figures

State = Literal["waiting", "bound", "running", "stranded"]

BURST_SECONDS = Limits().burst
"""Pods of a gang are bound one after another: an incomplete gang is no news for this long."""
MOST_POD_LANES = 24
"""More pods than this are drawn one lane per gang."""
MOST_GANGS_BY_POD = 2
"""More gangs than this, too: with several, the question is which are whole."""


@dataclass(frozen=True)
class Span:
    """A state, from when to when."""

    start: float
    end: float
    state: State


@dataclass(frozen=True)
class Pod:
    """One pod's life on the time axis."""

    name: str
    role: str | None
    created: float
    """When it was created; 0 when it was there before the recording."""
    bound: float | None
    running: float | None
    ended: float | None
    """When it finished or was deleted; None when it was still there at the end."""
    node: str | None
    told: Mapping[str, str]
    """Each mark's time as text, which also says where it is not exactly known."""

    def holds_node(self, end: float) -> tuple[float, float] | None:
        """From when to when it held its node."""
        if self.bound is None:
            return None
        return self.bound, min(end, self.ended if self.ended is not None else end)


@dataclass(frozen=True)
class Gang:
    """Pods that make sense only together, and when how many of them were bound."""

    name: str | None
    """The gang's name; None for pods that no gang scheduler knows to belong together."""
    size: int
    pods: Sequence[Pod]
    end: float
    steps: Sequence[tuple[float, int]] = field(default=())
    """Each time at which the number of bound pods changed, with the new number."""

    @property
    def skew(self) -> float | None:
        """Last minus first bind of the pods that were seen being bound."""
        times = [pod.bound for pod in self.pods if pod.bound is not None]
        return max(times) - min(times) if len(times) > 1 else None

    @property
    def spells(self) -> list[tuple[float, float, int]]:
        """From when to when how many pods were bound; none for a gang that only waited."""
        edges = pairwise([*self.steps, (self.end, 0)])
        return [(start, end, number) for (start, number), (end, _) in edges]

    @property
    def most_bound(self) -> int:
        """The largest number of pods that were bound at once."""
        return max((number for _, number in self.steps), default=0)

    @cached_property
    def incomplete(self) -> list[tuple[float, float]]:
        """When some but not all of its pods were bound, bind bursts left out."""
        found: list[tuple[float, float]] = []
        for start, end, number in self.spells:
            if not 0 < number < self.size:
                continue
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        # One that lasts until the end is no burst: nobody saw it become complete.
        return [(a, b) for a, b in found if b - a > BURST_SECONDS or b >= self.end]


def gangs(receipt: Mapping[str, Any]) -> list[Gang]:
    """Sort a receipt's pods into gangs; pods outside any gang count as one workload."""
    timeline, expectation = receipt["timeline"], receipt["expectation"]
    end = float(timeline["end"])
    members: dict[str | None, list[Pod]] = {}
    for told in timeline["pods"]:
        members.setdefault(told["group"], []).append(_pod(told))
    return [
        Gang(
            name=name,
            size=expectation["size"] * (1 if name is not None else expectation["groups"]),
            pods=sorted(pods, key=lambda pod: _natural(pod.name)),
            end=end,
            steps=_steps(pods, end),
        )
        for name, pods in sorted(members.items(), key=lambda item: _natural(item[0] or ""))
    ]


def crowded(everyone: Sequence[Gang]) -> bool:
    """Tell whether a lane per gang says more than a lane per pod."""
    pods = sum(len(gang.pods) for gang in everyone)
    return pods > MOST_POD_LANES or len(everyone) > MOST_GANGS_BY_POD


def present(gang: Gang) -> list[tuple[float, float]]:
    """When any pod of a gang was there: a gang that ends is made anew, and waits again."""
    lives = sorted(
        (pod.created, pod.ended if pod.ended is not None else gang.end) for pod in gang.pods
    )
    merged: list[tuple[float, float]] = []
    for start, end in lives:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def spans(pod: Pod, gang: Gang) -> list[Span]:
    """Cut a pod's life into states."""
    until = pod.ended if pod.ended is not None else gang.end
    held = pod.holds_node(gang.end)
    if held is None:
        return [Span(pod.created, until, "waiting")]
    edges = {held[0], held[1], *(edge for pair in gang.incomplete for edge in pair)}
    if pod.running is not None:
        edges.add(pod.running)
    inside = sorted(edge for edge in edges if held[0] <= edge <= held[1])
    cut = [Span(pod.created, held[0], "waiting")]
    cut += [Span(start, end, _state(pod, gang, start)) for start, end in pairwise(inside)]
    return [span for span in _merged(cut) if span.end > span.start]


def stranded_seconds(gang: Gang) -> float:
    """Pod-seconds for which nodes were held by pods of an incomplete gang."""
    return round(
        sum(
            span.end - span.start
            for pod in gang.pods
            for span in spans(pod, gang)
            if span.state == "stranded"
        ),
        3,
    )


def _state(pod: Pod, gang: Gang, start: float) -> State:
    if any(begin <= start < end for begin, end in gang.incomplete):
        return "stranded"
    return "running" if pod.running is not None and pod.running <= start else "bound"


def _merged(cut: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in cut:
        if merged and merged[-1].state == span.state and merged[-1].end == span.start:
            merged[-1] = Span(merged[-1].start, span.end, span.state)
        else:
            merged.append(span)
    return merged


def start_of(mark: Mapping[str, Any]) -> float:
    """From when a mark holds: what was so before the recording holds from its start."""
    return 0.0 if mark.get("before") else float(mark["at"])


def _pod(told: Mapping[str, Any]) -> Pod:
    marks = {mark["what"]: mark for mark in reversed(told["marks"])}
    at = {what: start_of(mark) for what, mark in marks.items()}
    ends = [at[what] for what in ("finished", "deleted") if what in at]
    return Pod(
        name=told["name"],
        role=told["role"],
        created=at.get("created", 0.0),
        bound=at.get("bound"),
        running=at.get("running"),
        ended=min(ends) if ends else None,
        node=marks.get("bound", {}).get("node"),
        told={what: figures.told(mark) for what, mark in marks.items()},
    )


def _steps(pods: Sequence[Pod], end: float) -> list[tuple[float, int]]:
    """Count the bound pods whenever their number changes."""
    changes: dict[float, int] = {}
    for pod in pods:
        held = pod.holds_node(end)
        if held is not None:
            changes[held[0]] = changes.get(held[0], 0) + 1
            if pod.ended is not None:
                changes[held[1]] = changes.get(held[1], 0) - 1
    steps: list[tuple[float, int]] = []
    number = 0
    for time, change in sorted(changes.items()):
        number += change
        steps.append((time, number))
    return steps


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort key under which gang-10 comes after gang-9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split("-")]
