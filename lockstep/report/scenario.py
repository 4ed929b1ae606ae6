"""One receipt on the page: its figures, its picture, its evidence; and two receipts compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.report import burst, figures, timeline
from lockstep.report.lanes import crowded, gangs, spans
from lockstep.report.markup import Markup, element, join
from lockstep.report.scale import Scale
from lockstep.report.summary import MEANINGS, pair, stranded

Receipt = Mapping[str, Any]

_LEGEND = (
    ("waiting", "waiting for a node"),
    ("bound", "bound, starting"),
    ("running", "running, gang complete"),
    ("stranded", "holds a node, gang incomplete"),
    ("blocked", "worker blocked by a taint"),
)

_NOTICEABLE = 0.97
"""A recording that ends before this share of the picture leaves a grey rest that one sees."""


def section(receipt: Receipt) -> Markup:
    """Tell one scenario from its verdict down to the raw events."""
    step, verdict = receipt["step"], receipt["verdict"]
    scale = timeline.own_scale(receipt)
    picture = timeline.picture(receipt, scale, f"{step}-picture")
    return element(
        "section",
        element("div", element("h2", step), badge(verdict), _wanted(verdict), class_="heading"),
        _meaning(verdict),
        _figures(receipt),
        element("figure", picture, burst.lens(receipt, scale), legend(receipt), class_="panel"),
        _evidence(receipt),
        _table(receipt),
        _events(receipt),
        id=step,
        aria_label=f"Scenario {step}",
    )


def _meaning(verdict: Mapping[str, Any]) -> Markup:
    """Explain a verdict: in our words where it is as expected, else why it is not."""
    if verdict["ok"]:
        return element("p", MEANINGS.get(verdict["observed"], verdict["reason"]), class_="soft")
    return element("p", verdict["reason"] or "not as expected", class_="failure")


def comparison(receipts: Sequence[Receipt]) -> Markup | None:
    """Draw a gang and its control side by side on one time scale, both from their first pod."""
    chosen = pair(receipts)
    if chosen is None:
        return None
    origins = [_first_pod(one) for one in chosen]
    pairs = list(zip(chosen, origins, strict=True))
    ends = [one["timeline"]["end"] - origin for one, origin in pairs]
    moments = [time for one, origin in pairs for time in timeline.moments(one, origin)]
    scale = Scale(0.0, max(ends), [*moments, *ends])
    grey = " Grey is the time after a recording's end." if scale.at(min(ends)) < _NOTICEABLE else ""
    panels = [
        _panel(one, timeline.picture(one, scale, f"compare-{one['step']}", origin=origin))
        for one, origin in pairs
    ]
    return element(
        "section",
        element("h2", _title(chosen[0])),
        element(
            "p",
            "Both pictures have the same time scale; it starts when the first pod was created."
            + grey,
            class_="soft",
        ),
        element("div", *panels, class_="panels"),
        legend(*chosen),
        _then(receipts, chosen[0]),
        id="comparison",
        aria_label="Comparison",
    )


def field(receipt: Receipt, name: str) -> Markup:
    """Show one number of a receipt; the exact value stays with it for machines and tests."""
    verdict, known = receipt["verdict"], value(receipt, name)
    if name == "observed":
        shown: str = badge(verdict)
    elif name == "bound":
        shown = figures.share(known, verdict["size"])
    elif name == "expected":
        shown = str(known)
    else:
        shown = figures.duration(known)
    exact = None if known is None else str(known)
    return element("span", shown, data_step=receipt["step"], data_field=name, data_value=exact)


def value(receipt: Receipt, name: str) -> Any:
    """Look up a field of the verdict, or how long it was recorded."""
    return receipt["timeline"]["end"] if name == "end" else receipt["verdict"].get(name)


def badge(verdict: Mapping[str, Any]) -> Markup:
    """Show what was observed, with a sign for those who do not see the colour."""
    ok = verdict["ok"]
    sign = "M2 8.5 6 12.5 14 3.5" if ok else "M3 3 13 13M13 3 3 13"
    return element(
        "span",
        element("svg", element("path", d=sign), viewBox="0 0 16 16", aria_hidden="true"),
        verdict["observed"],
        class_="verdict ok" if ok else "verdict bad",
    )


def _wanted(verdict: Mapping[str, Any]) -> Markup | None:
    if verdict["ok"]:
        return None
    return element("span", f"expected {verdict['expected']}", class_="soft")


def sprite() -> Markup:
    """Define the patterns once for all pictures."""
    hatch = element(
        "pattern",
        element("rect", width="6", height="6"),
        element("path", d="M-1 7 7-1M-1 1 1-1M5 7 7 5"),
        id="hatch",
        width="6",
        height="6",
        patternUnits="userSpaceOnUse",
    )
    cross = element(
        "pattern",
        element("rect", width="6", height="6"),
        element("path", d="M-1-1 7 7M5-1 7 1M-1 5 1 7"),
        id="cross",
        width="6",
        height="6",
        patternUnits="userSpaceOnUse",
    )
    return element("svg", element("defs", hatch, cross), class_="sprite", aria_hidden="true")


def logo() -> Markup:
    """Four bars that start on one line: a gang."""
    bars = [
        element("rect", x=str(x), y=str(y), width=str(22 - x), height="2.6", rx="1.3")
        for x, y in ((7, 0), (7, 4.4), (7, 8.8), (7, 13.2))
    ]
    return element("svg", *bars, viewBox="0 0 22 16", aria_hidden="true")


def legend(*receipts: Receipt) -> Markup:
    """Explain the states that occur, and no others."""
    everyone = [gang for receipt in receipts for gang in gangs(receipt)]
    present: set[str] = {
        span.state for gang in everyone for pod in gang.pods for span in spans(pod, gang)
    }
    if any(receipt["timeline"]["taints"] for receipt in receipts):
        present.add("blocked")
    if crowded(everyone):
        present.discard("bound")
    items = [element("li", _swatch(state), text) for state, text in _LEGEND if state in present]
    if any(gang.most_bound for gang in everyone) and not crowded(everyone):
        line = element("line", x1="13", x2="13", y1="-2", y2="14")
        items.append(element("li", element("svg", line, aria_hidden="true"), "bound to a node"))
    return element("ul", *items, class_="legend")


def _swatch(state: str) -> Markup:
    height = "5" if state == "blocked" else "12"
    rect = element("rect", class_=state, width="26", height=height)
    return element("svg", rect, aria_hidden="true")


def _title(gang: Receipt) -> str:
    held = gang["verdict"]["observed"] == "held"
    return f"{'The same shortage, with' if held else 'With'} and without gang scheduling"


def _panel(receipt: Receipt, picture: Markup) -> Markup:
    gang, verdict = receipt["expectation"]["gang"], receipt["verdict"]
    wasted = stranded(receipt)
    bound = figures.share(verdict["bound"], verdict["size"])
    fate = ""
    if wasted:
        fate = ": they wait for the rest"
    elif verdict["observed"] == "held":
        fate = ": they wait together"
    waste = (
        f"{figures.duration(wasted)} of pod time spent holding nodes for nothing"
        if wasted
        else "No node was held for nothing"
    )
    return element(
        "figure",
        element(
            "figcaption",
            element("p", "Gang scheduling" if gang else "Default scheduler", class_="scheduler"),
            element(
                "p", element("span", bound, class_="big"), f" pods bound{fate}", class_="result"
            ),
            element("p", waste, class_="waste"),
        ),
        picture,
        class_="panel apart" if wasted else "panel together",
    )


def _then(receipts: Sequence[Receipt], held: Receipt) -> Markup | None:
    """Tell how the held gang's story went on, if it did."""
    if held["verdict"]["observed"] != "held":
        return None
    for receipt in receipts:
        verdict = receipt["verdict"]
        if receipt["scenario"] == held["scenario"] and verdict["observed"] == "released":
            latency = verdict.get("releaseLatencySeconds")
            after = f" {figures.duration(latency)} later" if latency is not None else ""
            return element(
                "p",
                f"Then a worker was freed:{after} all {verdict['size']} pods were bound. ",
                element("a", "See the release", href=f"#{receipt['step']}"),
                class_="then",
            )
    return None


def _first_pod(receipt: Receipt) -> float:
    times = [mark["at"] for pod in receipt["timeline"]["pods"] for mark in pod["marks"]]
    return float(min(times, default=0.0))


def _figures(receipt: Receipt) -> Markup:
    shown = [("bound", "Pods bound"), ("bindSkewSeconds", "Bind skew")]
    if receipt["verdict"].get("releaseLatencySeconds") is not None:
        shown.append(("releaseLatencySeconds", "Release latency"))
    shown.append(("end", "Recorded"))
    rows = [
        element("div", element("dt", title), element("dd", field(receipt, name)))
        for name, title in shown
    ]
    return element("dl", *rows, class_="figures")


def _evidence(receipt: Receipt) -> Markup | None:
    if not receipt["evidence"]:
        return None
    facts = [element("li", fact) for fact in receipt["evidence"]]
    return join(element("ul", *facts, class_="evidence"))


def _table(receipt: Receipt) -> Markup:
    """Give the picture's content as text."""
    head = ("Pod", "Role", "Created", "Bound", "Running", "Gone", "Node")
    rows = [
        element(
            "tr",
            element("th", pod.name, scope="row", class_="mono"),
            element("td", pod.role or figures.NOTHING),
            *(
                element("td", figures.moment(time))
                for time in (pod.created, pod.bound, pod.running, pod.ended)
            ),
            element("td", pod.node or figures.NOTHING, class_="mono"),
        )
        for gang in gangs(receipt)
        for pod in gang.pods
    ]
    table = element(
        "table",
        element("thead", element("tr", *(element("th", title, scope="col") for title in head))),
        element("tbody", *rows),
    )
    return element(
        "details",
        element("summary", "The picture as a table"),
        element("div", element("div", table, class_="wide"), _changes(receipt)),
    )


def _changes(receipt: Receipt) -> Markup | None:
    """List what happened to workers and PodGroups."""
    told = receipt["timeline"]
    changes = [
        (taint["at"], f"{taint['node']}: taint {taint['key']} {taint['change']}")
        for taint in told["taints"]
    ]
    changes += [
        (phase["at"], f"PodGroup {group['name']}: {phase['phase']}")
        for group in told["podGroups"]
        for phase in group["phases"]
    ]
    if not changes:
        return None
    rows = [
        element("tr", element("td", figures.moment(at)), element("td", text))
        for at, text in sorted(changes)
    ]
    head = element("tr", element("th", "At", scope="col"), element("th", "Change", scope="col"))
    return element("table", element("thead", head), element("tbody", *rows))


def _events(receipt: Receipt) -> Markup | None:
    events = receipt["timeline"]["events"]
    if not events:
        return None
    items = [
        element(
            "li",
            element("strong", event["reason"]),
            element("span", f" {event['object']}, {figures.moment(event['at'])}", class_="soft"),
            element("span", f", {event['count']} times", class_="soft")
            if event["count"] > 1
            else None,
            element("span", event["message"], class_="message"),
        )
        for event in events
    ]
    return element(
        "details",
        element("summary", f"Events, word for word ({len(events)})"),
        element("div", element("ol", *items, class_="events")),
    )
