"""The picture of a receipt: actions, blocked workers, PodGroup, then one lane per pod or gang."""

from collections.abc import Mapping, Sequence

from lockstep.judge.drill_marks import Topic
from lockstep.recording.timeline import DRILL_REASON
from lockstep.report import figures
from lockstep.report.canvas import Canvas, Scale, shortened
from lockstep.report.lanes import GangLanes, crowded, gang_lanes
from lockstep.report.receipt import Receipt
from lockstep.report.timeline import EventLine, PodTimeline, Timeline

_BAR = 12
_GANG = 20
"""Height of a gang's lane."""
_MOST_NAMED = 16
"""More gangs than this get lanes without names, which are lower the more gangs there are."""
_APART = 0.06
"""Numbers nearer to each other than this share of the width would touch on a phone."""
_LEAD = 0.03
"""Time shown before the first change, as a share of the total: bars need a visible start."""


def draw(receipt: Receipt, scale: Scale, identity: str, *, origin: float = 0.0) -> Canvas:
    """Draw one receipt; `origin` is the time of the recording that the scale calls zero."""
    title = f"Timeline of {receipt.step}: {receipt.verdict.observed}"
    end = receipt.timeline.end
    canvas = Canvas(identity, title, describe(receipt), scale, end, origin)
    _draw_actions(canvas, receipt)
    _draw_blocked_workers(canvas, receipt)
    gangs = gang_lanes(receipt)
    if crowded(gangs):
        _draw_gangs(canvas, gangs)
    else:
        for gang in gangs:
            _draw_pod_group(canvas, receipt.timeline, gang)
            _draw_pods(canvas, gang, short_nodes(receipt))
    canvas.axis()
    return canvas


def own_scale(receipt: Receipt) -> Scale:
    """Scale a picture to its recording, from shortly before the first change."""
    told = receipt.timeline
    first = min(
        (
            *(mark.start for pod in told.pods for mark in pod.marks),
            *(phase.start for group in told.pod_groups for phase in group.phases),
            *(taint.start for taint in told.taints),
            *(action.at for action in actions(receipt)),
        ),
        default=0.0,
    )
    return Scale(max(0.0, first - max(told.end - first, 0.0) * _LEAD), told.end)


def describe(receipt: Receipt) -> str:
    """Describe in words what the picture shows, for those who do not see it."""
    told = receipt.timeline
    bound = sorted(pod.bound for pod in told.pods if pod.bound is not None)
    words = [f"{figures.count(len(told.pods), 'pod')} in {figures.duration(told.end)}."]
    if bound:
        first, last = figures.time(bound[0]), figures.time(bound[-1])
        words.append(f"{len(bound)} bound, the first at {first}, the last at {last}.")
    else:
        words.append("No pod was bound to a node; all waited until the end.")
    for taint in told.taints:
        change = "blocked" if taint.change == "set" else "unblocked"
        when = "from the start" if taint.before else f"at {figures.time(taint.at)}"
        words.append(f"{taint.node} {change} {when}.")
    return " ".join(words)


def short_nodes(receipt: Receipt) -> dict[str, str]:
    """The workers' names without their common start; the table has the full names."""
    names = [worker.name for worker in receipt.workers]
    parts = [name.split(".")[0].split("-") for name in names]
    same = 0
    while len(parts) > 1 and all(len(p) > same + 2 and p[same] == parts[0][same] for p in parts):
        same += 1
    return {name: "-".join(part[same:]) for name, part in zip(names, parts, strict=True)}


def actions(receipt: Receipt) -> list[EventLine]:
    """What the drill did to the workload while it was recorded."""
    events = receipt.timeline.events
    return [one for one in events if one.reason == DRILL_REASON and one.message != Topic.OVER]


def _draw_actions(canvas: Canvas, receipt: Receipt) -> None:
    """Draw a numbered sign for each action; the list below the picture describes them."""
    done = actions(receipt)
    if not done:
        return
    canvas.heading("Actions", figures.count(len(done), "step"))
    canvas.y += 6
    last = -1.0
    for number, action in enumerate(done, start=1):
        place = canvas.share(action.at)
        has_space = place - last > _APART
        canvas.disc(action.at, str(number) if has_space else "", action.message)
        last = place if has_space else last
        canvas.guide(action.at)
    canvas.y += 22


def _draw_blocked_workers(canvas: Canvas, receipt: Receipt) -> None:
    """Draw when each worker was blocked, and a guide where one was unblocked."""
    end, nodes = receipt.timeline.end, short_nodes(receipt)
    for node, key, start, until in _blocks(receipt.timeline):
        unblocked = until < end
        if unblocked:
            canvas.guide(until)
        note = f"blocked until {figures.time(until - canvas.origin)}" if unblocked else "blocked"
        canvas.heading(nodes.get(node, node), note)
        canvas.bar(start, until, 5, "blocked", f"{node}: taint {key}")
        canvas.y += 16


def _blocks(told: Timeline) -> list[tuple[str, str, float, float]]:
    """Pair each taint that was set with its removal, or with the end."""
    since: dict[tuple[str, str], float] = {}
    blocks: list[tuple[str, str, float, float]] = []
    for taint in told.taints:
        key = (taint.node, taint.key)
        if taint.change == "set":
            since[key] = taint.start
        elif key in since:
            blocks.append((*key, since.pop(key), taint.at))
    return sorted([*blocks, *((*key, start, told.end) for key, start in since.items())])


def _draw_pod_group(canvas: Canvas, told: Timeline, gang: GangLanes) -> None:
    """Draw the phases of the gang's PodGroup, or that there is no PodGroup."""
    group = next((one for one in reversed(told.pod_groups) if one.group == gang.name), None)
    if group is None or gang.name is None:
        canvas.heading("No PodGroup", "scheduled one by one")
        first = min(pod.created for pod in gang.pods)
        canvas.bar(first, gang.end, 16, "phase none", "no PodGroup")
    else:
        canvas.heading(f"PodGroup {group.name}", f"minMember {group.min_member}")
        ends = [*(phase.start for phase in group.phases[1:]), gang.end]
        for phase, end in zip(group.phases, ends, strict=False):
            _draw_phase(canvas, phase.phase, phase.start, end)
    canvas.y += 28


def _draw_phase(canvas: Canvas, name: str, start: float, end: float) -> None:
    kind = "phase on" if name == "Running" else "phase"
    canvas.bar(start, end, 16, kind, f"PodGroup {name} from {figures.time(start)}")
    left, right = canvas.share(start), canvas.share(end)
    # A character takes about 2.4 % of the narrowest phone's picture.
    if right - left > 0.024 * (len(name) + 1):
        canvas.text(left + 0.012, name, f"label {kind}", dy=12)


def _draw_pods(canvas: Canvas, gang: GangLanes, nodes: Mapping[str, str]) -> None:
    for pod in gang.pods:
        role = " \N{MIDDLE DOT} leader" if pod.role == "leader" else ""
        canvas.heading(pod.name, _binding(canvas, pod, nodes), role)
        for span in gang.spans(pod):
            title = f"{pod.name} {span.state}: {span.start:.3f} s to {span.end:.3f} s"
            canvas.bar(span.start, span.end, _BAR, span.state, title)
        if pod.bound is not None:
            canvas.pin(pod.bound, _BAR)
        canvas.y += 21
    canvas.y += 6


def _binding(canvas: Canvas, pod: PodTimeline, nodes: Mapping[str, str]) -> str:
    if pod.bound is None:
        return "never bound"
    node = shortened(nodes.get(pod.node or "", pod.node or ""), 12)
    return f"{node} at {figures.time(pod.bound - canvas.origin)}"


def _draw_gangs(canvas: Canvas, gangs: Sequence[GangLanes]) -> None:
    """Draw one lane per gang, filled from below by the share of its pods that is bound."""
    named = len(gangs) <= _MOST_NAMED
    height = _GANG if named else max(3, min(9, 900 // len(gangs)))
    if not named:
        title = f"{figures.count(len(gangs), 'gang')}, one lane each"
        canvas.heading(title, "filled: share bound")
        canvas.y += 4
    for gang in gangs:
        if named:
            most = figures.share(gang.most_bound, gang.size)
            canvas.heading(gang.name or "pods", f"at most {most} bound")
        _draw_gang(canvas, gang, height)
        canvas.y += height * 1.4
    canvas.y += 8


def _draw_gang(canvas: Canvas, gang: GangLanes, full: float) -> None:
    name, top = gang.name or "pods", canvas.y
    for start, end in gang.present:
        canvas.bar(start, end, full, "waiting", f"{name} existed from {figures.time(start)}")
    for start, end, bound in gang.spells:
        if bound and end > start:
            height = full * min(bound / gang.size, 1.0)
            canvas.y = top + full - height
            kind = "stranded" if gang.is_incomplete(start) else "running"
            share = figures.share(bound, gang.size)
            canvas.bar(start, end, height, kind, f"{name}: {share} bound from {start:.3f} s")
    canvas.y = top
