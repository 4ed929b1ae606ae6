"""What the templates of the page show, worked out from receipts.

The values that belong together are mappings, as Jinja2 has its variables; a template that names
one that does not exist fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockstep.report import environment, figures, picture
from lockstep.report.canvas import Canvas, Scale
from lockstep.report.lanes import crowded, gang_lanes
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import (
    Failures,
    complete_gangs,
    pairs,
    reason,
    stranded_seconds,
    summarize,
)
from lockstep.scenarios.registry import MEANINGS
from lockstep.scenarios.verdicts import VerdictName

POD_CHANGES = ("created", "bound", "running", "finished", "deleted")
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

    name: str
    title: str
    exact: Any
    text: str


def page(receipts: Sequence[Receipt], matrix: Matrix | None, failures: Failures) -> dict[str, Any]:
    """Everything that `page.html.j2` refers to, except its style."""
    return {
        "summary": summarize(receipts, failures),
        "clusters": sorted({f"{one.cluster.name} ({one.cluster.provider})" for one in receipts}),
        "last": max(one.created_at for one in receipts),
        "rows": [(one, verdict_row(one)) for one in receipts],
        "comparisons": [_comparison(receipts, *pair) for pair in pairs(receipts)],
        "scenarios": [_scenario(one) for one in receipts],
        "matrix": matrix,
        "facts": environment.described(receipts),
        "commands": environment.commands(receipts),
        "pod_changes": POD_CHANGES,
    }


def verdict_row(receipt: Receipt) -> list[Field]:
    """The cells of a receipt in the verdict table."""
    verdict = receipt.verdict
    return [
        Field("expected", "Expected", verdict.expected, verdict.expected),
        Field("observed", "Observed", verdict.observed, verdict.observed),
        Field("bound", "Bound", verdict.bound, figures.share(verdict.bound, verdict.size)),
        _seconds("bindSkewSeconds", "Bind skew", verdict.bind_skew_seconds),
        _seconds("releaseLatencySeconds", "Release latency", verdict.release_latency_seconds),
        _seconds("end", "Time", receipt.timeline.end),
    ]


def _seconds(name: str, title: str, value: float | None) -> Field:
    return Field(name, title, value, figures.duration(value))


def _scenario(receipt: Receipt) -> dict[str, Any]:
    """The section about one receipt, from its verdict down to the raw events."""
    verdict = receipt.verdict
    return {
        "receipt": receipt,
        "meaning": _MEANINGS.get(verdict.observed, verdict.reason)
        if verdict.ok
        else reason(receipt),
        "figures": _figures(receipt),
        "canvas": picture.draw(receipt, picture.own_scale(receipt), f"{receipt.step}-picture"),
        "legend": _legend(receipt),
        "actions": picture.actions(receipt),
        "gangs": gang_lanes(receipt),
        "changes": _changes(receipt),
    }


def _figures(receipt: Receipt) -> list[Field]:
    """The large figures of a section; the release latency only where it was measured."""
    bound, skew, latency, end = verdict_row(receipt)[2:]
    fields = [replace(bound, title="Pods bound"), skew]
    if latency.exact is not None:
        fields.append(latency)
    fields.append(replace(end, title="Recorded"))
    fields += [
        Field(name, figures.words(name), value, figures.measure(name, value))
        for name, value in receipt.verdict.measures.items()
    ]
    return fields


def _legend(*receipts: Receipt) -> dict[str, Any]:
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
    return {
        "states": {state: text for state, text in _STATES.items() if state in present},
        "has_pins": not by_gang and any(gang.most_bound for gang in gangs),
    }


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


def _comparison(receipts: Sequence[Receipt], gang: Receipt, control: Receipt) -> dict[str, Any]:
    """Draw two receipts on one time scale, each from the creation of its first pod."""
    origins = [_first_pod(one) for one in (gang, control)]
    ends = [gang.timeline.end - origins[0], control.timeline.end - origins[1]]
    scale = Scale(0.0, max(ends))
    name = f"compare-{control.step}"
    note = "Both pictures have the same time scale; it starts when the first pod was created."
    if scale.at(min(ends)) < _NOTICEABLE:
        note += " Grey is the time after the end of a recording."
    return {
        "identity": name,
        "label": f"{gang.step} and {control.step} compared",
        "title": _title(gang),
        "note": note,
        "panels": [
            _panel(gang, picture.draw(gang, scale, f"{name}-gang", origin=origins[0])),
            _panel(control, picture.draw(control, scale, f"{name}-control", origin=origins[1])),
        ],
        "legend": _legend(gang, control),
        "release": _release(receipts, gang),
    }


def _title(gang: Receipt) -> str:
    before = "With"
    if gang.verdict.observed == VerdictName.HELD:
        before = "The same shortage, with"
    elif gang.expectation.groups > 1:
        before = "More gangs than room, with"
    return f"{before} and without gang scheduling"


def _panel(receipt: Receipt, canvas: Canvas) -> dict[str, Any]:
    """One side of a comparison."""
    stranded = stranded_seconds(receipt)
    count, result = _result(receipt, stranded > 0)
    return {
        "receipt": receipt,
        "kind": "together" if receipt.expectation.gang and receipt.verdict.ok else "apart",
        "canvas": canvas,
        "count": count,
        "result": result,
        "waste": f"{figures.duration(stranded)} of pod time spent in an incomplete gang"
        if stranded
        else "No node was occupied by an incomplete gang",
    }


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
