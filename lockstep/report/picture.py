"""The timeline picture of a receipt: blocked workers, PodGroup, then one lane per pod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.judge import notes
from lockstep.report import figures
from lockstep.report.canvas import Canvas, cut
from lockstep.report.lanes import Gang, Pod, crowded, gangs, present, spans, start_of
from lockstep.report.markup import Markup
from lockstep.report.scale import Scale

Receipt = Mapping[str, Any]

_BAR = 12
_GANG, _LOW_GANG, _THIN_GANG = (20, 9), (9, 4), (3, 1)
"""Height of a gang's lane and the space below it."""
_MOST_NAMED, _MOST_LOW = 16, 100
"""More gangs than these get low lanes without names, and thin ones."""
_APART = 0.06
"""Numbers nearer to each other than this share of the width would touch on a phone."""
_LEAD = 0.03
"""Time shown before the first change, as a share of all: a bar that starts needs a start."""


def picture(receipt: Receipt, scale: Scale, identity: str, *, origin: float = 0.0) -> Markup:
    """Draw one receipt on a scale; `origin` is the recording's time that the scale calls zero."""
    canvas = Canvas(scale, origin)
    _deeds(canvas, receipt)
    _blocked_workers(canvas, receipt)
    everyone = gangs(receipt)
    if crowded(everyone):
        _gang_lanes(canvas, everyone)
    else:
        for gang in everyone:
            _ribbon(canvas, receipt, gang)
            _pod_lanes(canvas, gang, short_nodes(receipt))
    return canvas.finish(*describe(receipt), identity, receipt["timeline"]["end"])


def own_scale(receipt: Receipt) -> Scale:
    """Scale a picture to its recording, from shortly before the first change."""
    end, times = receipt["timeline"]["end"], moments(receipt)
    first = min(times, default=0.0)
    return Scale(max(0.0, first - max(end - first, 0.0) * _LEAD), end, times)


def moments(receipt: Receipt, origin: float = 0.0) -> list[float]:
    """Every time at which the picture changes; between them nothing is lost by a break."""
    told = receipt["timeline"]
    marks = [mark for pod in told["pods"] for mark in pod["marks"]]
    phases = [phase for group in told["podGroups"] for phase in group["phases"]]
    shown = [*marks, *phases, *told["taints"], *deeds(receipt)]
    return [start_of(one) - origin for one in shown]


def describe(receipt: Receipt) -> tuple[str, str]:
    """Say in words what the picture shows, for those who do not see it."""
    told = receipt["timeline"]
    bound = sorted(p.bound for gang in gangs(receipt) for p in gang.pods if p.bound is not None)
    words = [f"{figures.count(len(told['pods']), 'pod')} in {figures.duration(told['end'])}."]
    if bound:
        first, last = figures.moment(bound[0]), figures.moment(bound[-1])
        words.append(f"{len(bound)} bound, the first at {first}, the last at {last}.")
    else:
        words.append("None was bound to a node; all waited until the end.")
    for taint in told["taints"]:
        change = "blocked" if taint["change"] == "set" else "freed"
        when = "from the start" if taint.get("before") else f"at {figures.moment(taint['at'])}"
        words.append(f"{taint['node']} {change} {when}.")
    return f"Timeline of {receipt['step']}: {receipt['verdict']['observed']}", " ".join(words)


def short_nodes(receipt: Receipt) -> dict[str, str]:
    """Leave out what all the workers' names begin with; the table has them in full."""
    names = [worker["name"] for worker in receipt["workers"]]
    parts = [name.split(".")[0].split("-") for name in names]
    same = 0
    while len(parts) > 1 and all(len(p) > same + 2 and p[same] == parts[0][same] for p in parts):
        same += 1
    return {name: "-".join(part[same:]) for name, part in zip(names, parts, strict=True)}


def deeds(receipt: Receipt) -> list[Mapping[str, Any]]:
    """What was done to the workload while it was recorded, as the one who did it noted."""
    events = receipt["timeline"]["events"]
    return [one for one in events if one["reason"] == notes.REASON and one["message"] != notes.OVER]


def _deeds(canvas: Canvas, receipt: Receipt) -> None:
    """Draw a numbered sign where something was done; the list below the picture says what."""
    done = deeds(receipt)
    if not done:
        return
    canvas.heading("Done to it", figures.count(len(done), "step"))
    canvas.y += 6
    last = -1.0
    for number, deed in enumerate(done, start=1):
        place = canvas.share(deed["at"])
        canvas.sign(deed["at"], str(number) if place - last > _APART else "", deed["message"])
        last = place if place - last > _APART else last
        canvas.guide(deed["at"])
    canvas.y += 22


def _blocked_workers(canvas: Canvas, receipt: Receipt) -> None:
    """Draw when which worker was blocked, and a guide where one was freed."""
    end, nodes = receipt["timeline"]["end"], short_nodes(receipt)
    for node, key, start, until in _blocks(receipt["timeline"]):
        freed = until < end
        if freed:
            canvas.guide(until)
        note = f"blocked until {figures.moment(until - canvas.origin)}" if freed else "blocked"
        canvas.heading(nodes.get(node, node), note)
        canvas.bar(start, until, 5, "blocked", f"{node}: taint {key}")
        canvas.y += 16


def _blocks(told: Mapping[str, Any]) -> list[tuple[str, str, float, float]]:
    """Pair each taint that was set with its removal, or with the end."""
    since: dict[tuple[str, str], float] = {}
    blocks: list[tuple[str, str, float, float]] = []
    for taint in told["taints"]:
        key = (taint["node"], taint["key"])
        if taint["change"] == "set":
            since[key] = start_of(taint)
        elif key in since:
            blocks.append((*key, since.pop(key), taint["at"]))
    return sorted([*blocks, *((*key, start, told["end"]) for key, start in since.items())])


def _ribbon(canvas: Canvas, receipt: Receipt, gang: Gang) -> None:
    """Draw the PodGroup's phases above its pods, or that there is none."""
    groups = receipt["timeline"]["podGroups"]
    group = next((one for one in reversed(groups) if one["group"] == gang.name), None)
    if group is None or gang.name is None:
        canvas.heading("No PodGroup", "nothing ties these pods")
        canvas.bar(min(p.created for p in gang.pods), gang.end, 16, "phase none", "no PodGroup")
    else:
        canvas.heading(f"PodGroup {group['name']}", f"minMember {group['minMember']}")
        starts = [start_of(phase) for phase in group["phases"]]
        for phase, start, until in zip(
            group["phases"], starts, [*starts[1:], gang.end], strict=False
        ):
            _phase(canvas, phase["phase"], start, until)
    canvas.y += 28


def _phase(canvas: Canvas, name: str, start: float, end: float) -> None:
    kind = "phase on" if name == "Running" else "phase"
    canvas.bar(start, end, 16, kind, f"PodGroup {name} from {start:.3f} s")
    left, right = canvas.share(start), canvas.share(end)
    # A character takes about 2.4 % of the narrowest phone's picture: no room, no label.
    if right - left > 0.024 * (len(name) + 1):
        canvas.text(left + 0.012, name, f"label {kind}", dy=12)


def _pod_lanes(canvas: Canvas, gang: Gang, nodes: Mapping[str, str]) -> None:
    for pod in gang.pods:
        role = " \N{MIDDLE DOT} leader" if pod.role == "leader" else ""
        canvas.heading(pod.name, _fate(canvas, pod, nodes), role)
        for span in spans(pod, gang):
            title = f"{pod.name} {span.state}: {span.start:.3f} s to {span.end:.3f} s"
            canvas.bar(span.start, span.end, _BAR, span.state, title)
        if pod.bound is not None:
            canvas.pin(pod.bound, _BAR)
        canvas.y += 21
    canvas.y += 6


def _fate(canvas: Canvas, pod: Pod, nodes: Mapping[str, str]) -> str:
    if pod.bound is None:
        return "never bound"
    node = cut(nodes.get(pod.node or "", pod.node or ""), 12)
    return f"{node} at {figures.moment(pod.bound - canvas.origin)}"


def _gang_lanes(canvas: Canvas, everyone: Sequence[Gang]) -> None:
    """Draw one lane per gang: how much of it is bound fills the lane from below."""
    named = len(everyone) <= _MOST_NAMED
    if not named:
        title = f"{figures.count(len(everyone), 'gang')}, one lane each"
        canvas.heading(title, "filled: share bound")
        canvas.y += 4
    for gang in everyone:
        if named:
            most = figures.share(gang.most_bound, gang.size)
            canvas.heading(gang.name or "pods", f"at most {most} bound")
        height, space = _GANG if named else _LOW_GANG if len(everyone) <= _MOST_LOW else _THIN_GANG
        _gang_lane(canvas, gang, height)
        canvas.y += height + space
    canvas.y += 8


def _gang_lane(canvas: Canvas, gang: Gang, full: float) -> None:
    name, top = gang.name or "pods", canvas.y
    for start, end in present(gang):
        canvas.bar(start, end, full, "waiting", f"{name} was there from {start:.3f} s")
    for start, end, bound in gang.spells:
        if bound and end > start:
            height = full * min(bound / gang.size, 1.0)
            canvas.y = top + full - height
            stranded = any(a <= start < b for a, b in gang.incomplete)
            title = f"{name}: {figures.share(bound, gang.size)} bound from {start:.3f} s"
            canvas.bar(start, end, height, "stranded" if stranded else "running", title)
    canvas.y = top
