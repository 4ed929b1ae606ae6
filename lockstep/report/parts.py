"""Small pieces of the page: a number, a verdict's badge, the legend, the patterns of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.report import figures
from lockstep.report.lanes import crowded, gangs, spans
from lockstep.report.markup import Markup, element

Receipt = Mapping[str, Any]

_LEGEND = (
    ("waiting", "waiting for a node"),
    ("bound", "bound, starting"),
    ("running", "running, gang complete"),
    ("stranded", "holds a node, gang incomplete"),
    ("blocked", "worker blocked by a taint"),
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


def measure(receipt: Receipt, name: str) -> Markup:
    """Show one of the figures that a verdict brings along."""
    known = receipt["verdict"]["measures"][name]
    shown = figures.duration(known) if "Seconds" in name else f"{known:g}"
    step = receipt["step"]
    return element("span", shown, data_step=step, data_field=name, data_value=str(known))


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
        element("rect", y=y, width="15", height="2.6", rx="1.3")
        for y in ("0", "4.4", "8.8", "13.2")
    ]
    return element("svg", *bars, viewBox="0 0 15 16", aria_hidden="true")


def _swatch(state: str) -> Markup:
    height = "5" if state == "blocked" else "12"
    rect = element("rect", class_=state, width="26", height=height)
    return element("svg", rect, aria_hidden="true")
