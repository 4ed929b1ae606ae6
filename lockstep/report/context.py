"""What the templates of the page show, worked out from receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.report import environment, figures, picture
from lockstep.report.canvas import Canvas, Scale
from lockstep.report.lanes import GangLanes, crowded, gang_lanes
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import (
    complete_gangs,
    pairs,
    reason,
    stranded_seconds,
    summarize,
)
from lockstep.report.timeline import EventLine
from lockstep.scenarios.registry import MEANINGS
from lockstep.scenarios.verdicts import VerdictName

POD_CHANGES = ("created", "bound", "running", "finished", "deleted")
_TEXTS = ("expected", "observed")
"""Fields of the verdict table that are no numbers."""
_STATES = {
    "waiting": "waiting for a node",
    "bound": "bound, starting",
    "running": "running, gang complete",
    "stranded": "occupies a node, gang incomplete",
    "blocked": "worker blocked by a taint",
}
_MEANINGS: dict[str, str] = {name.value: text for name, text in MEANINGS.items()}
_NOTICEABLE = 0.97
"""A recording that ends before this share of the picture leaves a visible grey area."""


@dataclass(frozen=True)
class Field:
    """One value of a receipt; the exact value stays in the page for machines and tests."""

    step: str
    name: str
    title: str
    exact: Any
    text: str

    @property
    def is_number(self) -> bool:
        """Whether the value is a number, which the table aligns to the right."""
        return self.name not in _TEXTS


@dataclass(frozen=True)
class Legend:
    """The states that occur in a picture with their explanations."""

    states: dict[str, str]
    has_pins: bool


@dataclass(frozen=True)
class ScenarioSection:
    """The section about one receipt."""

    receipt: Receipt
    meaning: str
    figures: list[Field]
    canvas: Canvas
    legend: Legend
    actions: list[EventLine]
    gangs: list[GangLanes]
    changes: list[tuple[str, str]]


@dataclass(frozen=True)
class Panel:
    """One side of a comparison."""

    receipt: Receipt
    canvas: Canvas
    count: str
    result: str
    waste: str

    @property
    def kind(self) -> str:
        """The style of the panel: `together` for a gang that passed, else `apart`."""
        receipt = self.receipt
        return "together" if receipt.expectation.gang and receipt.verdict.ok else "apart"


@dataclass(frozen=True)
class Comparison:
    """A gang and its control side by side, on one time scale."""

    identity: str
    label: str
    title: str
    note: str
    panels: list[Panel]
    legend: Legend
    release: Receipt | None
    """The receipt of the release, if the gang was held and then released."""


def page(receipts: Sequence[Receipt], matrix: Matrix | None) -> dict[str, Any]:
    """Everything that `page.html.j2` refers to, except its style."""
    return {
        "summary": summarize(receipts),
        "clusters": sorted({f"{one.cluster.name} ({one.cluster.provider})" for one in receipts}),
        "last": max(one.created_at for one in receipts),
        "rows": [(one, verdict_row(one)) for one in receipts],
        "comparisons": [comparison(receipts, *pair) for pair in pairs(receipts)],
        "scenarios": [scenario(one) for one in receipts],
        "matrix": matrix,
        "facts": environment.described(receipts),
        "commands": environment.commands(receipts),
        "pod_changes": POD_CHANGES,
    }


def verdict_row(receipt: Receipt) -> list[Field]:
    """The cells of a receipt in the verdict table."""
    verdict, step = receipt.verdict, receipt.step
    bound = figures.share(verdict.bound, verdict.size)
    return [
        Field(step, "expected", "Expected", verdict.expected, verdict.expected),
        Field(step, "observed", "Observed", verdict.observed, verdict.observed),
        Field(step, "bound", "Bound", verdict.bound, bound),
        _seconds(step, "bindSkewSeconds", "Bind skew", verdict.bind_skew_seconds),
        _seconds(step, "releaseLatencySeconds", "Release latency", verdict.release_latency_seconds),
        _seconds(step, "end", "Time", receipt.timeline.end),
    ]


def _seconds(step: str, name: str, title: str, value: float | None) -> Field:
    return Field(step, name, title, value, figures.duration(value))


def scenario(receipt: Receipt) -> ScenarioSection:
    """The section about one receipt, from its verdict down to the raw events."""
    verdict = receipt.verdict
    meaning = _MEANINGS.get(verdict.observed, verdict.reason) if verdict.ok else reason(receipt)
    return ScenarioSection(
        receipt=receipt,
        meaning=meaning,
        figures=_figures(receipt),
        canvas=picture.draw(receipt, picture.own_scale(receipt), f"{receipt.step}-picture"),
        legend=legend(receipt),
        actions=picture.actions(receipt),
        gangs=gang_lanes(receipt),
        changes=_changes(receipt),
    )


def _figures(receipt: Receipt) -> list[Field]:
    """The large figures of a section; the release latency only where it was measured."""
    cells = {cell.name: cell for cell in verdict_row(receipt)}
    shown = {
        "bound": "Pods bound",
        "bindSkewSeconds": "Bind skew",
        "releaseLatencySeconds": "Release latency",
        "end": "Recorded",
    }
    if cells["releaseLatencySeconds"].exact is None:
        del shown["releaseLatencySeconds"]
    fields = [
        Field(receipt.step, name, title, cells[name].exact, cells[name].text)
        for name, title in shown.items()
    ]
    fields += [
        Field(receipt.step, name, figures.words(name), value, figures.measure(name, value))
        for name, value in receipt.verdict.measures.items()
    ]
    return fields


def legend(*receipts: Receipt) -> Legend:
    """Explain the states that occur in the pictures of these receipts, and no others."""
    gangs = [gang for receipt in receipts for gang in gang_lanes(receipt)]
    present: set[str] = {
        span.state for gang in gangs for pod in gang.pods for span in gang.spans(pod)
    }
    if any(receipt.timeline.taints for receipt in receipts):
        present.add("blocked")
    by_gang = crowded(gangs)
    if by_gang:
        present.discard("bound")
    states = {state: text for state, text in _STATES.items() if state in present}
    return Legend(states, has_pins=not by_gang and any(gang.most_bound for gang in gangs))


def _changes(receipt: Receipt) -> list[tuple[str, str]]:
    """What happened to workers and PodGroups, in order: time and change."""
    told = receipt.timeline
    changes = [
        (taint.at, figures.moment(taint), f"{taint.node}: taint {taint.key} {taint.change}")
        for taint in told.taints
    ]
    changes += [
        (phase.at, figures.moment(phase), f"PodGroup {group.name}: {phase.phase}")
        for group in told.pod_groups
        for phase in group.phases
    ]
    return [(when, text) for _, when, text in sorted(changes)]


def comparison(receipts: Sequence[Receipt], gang: Receipt, control: Receipt) -> Comparison:
    """Draw two receipts on one time scale, each from the creation of its first pod."""
    origins = [_first_pod(one) for one in (gang, control)]
    ends = [gang.timeline.end - origins[0], control.timeline.end - origins[1]]
    scale = Scale(0.0, max(ends))
    name = f"compare-{control.step}"
    note = "Both pictures have the same time scale; it starts when the first pod was created."
    if scale.at(min(ends)) < _NOTICEABLE:
        note += " Grey is the time after the end of a recording."
    return Comparison(
        identity=name,
        label=f"{gang.step} and {control.step} compared",
        title=_title(gang),
        note=note,
        panels=[
            _panel(gang, picture.draw(gang, scale, f"{name}-gang", origin=origins[0])),
            _panel(control, picture.draw(control, scale, f"{name}-control", origin=origins[1])),
        ],
        legend=legend(gang, control),
        release=_release(receipts, gang),
    )


def _title(gang: Receipt) -> str:
    before = "With"
    if gang.verdict.observed == VerdictName.HELD:
        before = "The same shortage, with"
    elif gang.expectation.groups > 1:
        before = "More gangs than room, with"
    return f"{before} and without gang scheduling"


def _panel(receipt: Receipt, canvas: Canvas) -> Panel:
    stranded = stranded_seconds(receipt)
    count, result = _result(receipt, stranded > 0)
    waste = (
        f"{figures.duration(stranded)} of pod time spent in an incomplete gang"
        if stranded
        else "No node was occupied by an incomplete gang"
    )
    return Panel(receipt, canvas, count, result, waste)


def _result(receipt: Receipt, is_stranded: bool) -> tuple[str, str]:
    """The result in a few words: of many gangs how many were complete, of one how many pods."""
    verdict = receipt.verdict
    if receipt.expectation.groups > 1:
        return figures.share(*complete_gangs(receipt)), " gangs completed"
    fate = ""
    if verdict.observed == VerdictName.HELD:
        fate = ": they wait together"
    elif is_stranded and verdict.bound < verdict.size:
        fate = ": they wait for the rest"
    return figures.share(verdict.bound, verdict.size), f" pods bound{fate}"


def _release(receipts: Sequence[Receipt], gang: Receipt) -> Receipt | None:
    """The receipt of the release that followed a held gang, if there is one."""
    if gang.verdict.observed != VerdictName.HELD:
        return None
    same = (one for one in receipts if one.scenario == gang.scenario)
    return next((one for one in same if one.verdict.observed == VerdictName.RELEASED), None)


def _first_pod(receipt: Receipt) -> float:
    marks = [mark.start for pod in receipt.timeline.pods for mark in pod.marks]
    return min(marks, default=0.0)
