"""The bind burst under a lens: in the timeline, milliseconds of a gang are one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.report import figures
from lockstep.report.canvas import number, percent
from lockstep.report.lanes import Gang, gangs
from lockstep.report.markup import Markup, element
from lockstep.report.scale import Scale

_LEAST = 8
"""Magnified less than this, the timeline shows it as well."""


def lens(receipt: Mapping[str, Any], scale: Scale) -> Markup | None:
    """Show the binds of the one gang of a receipt, from the first to the last."""
    everyone = gangs(receipt)
    if len(everyone) != 1 or everyone[0].name is None or not everyone[0].skew:
        return None
    gang = everyone[0]
    first, last = _edges(gang)
    if gang.most_bound < gang.size or last <= first:
        return None
    power = 1 / (scale.at(last) - scale.at(first))
    if power < _LEAST:
        return None
    # The marks are rounded one by one; the judge measured before that.
    judged = receipt["verdict"].get("bindSkewSeconds")
    length = figures.duration(last - first if judged is None else judged)
    text = f"The {len(gang.pods)} binds, magnified {power:,.0f} times: {length} from first to last"
    return element("div", element("p", text), _strip(gang, first, last, length), class_="lens")


def _edges(gang: Gang) -> tuple[float, float]:
    times = [pod.bound for pod in gang.pods if pod.bound is not None]
    return min(times), max(times)


def _strip(gang: Gang, first: float, last: float, length: str) -> Markup:
    """Place each bind by its share of the burst, a little inside so that no sign is cut."""
    signs = [
        element(
            "circle",
            element("title", f"{pod.name}: {figures.duration(pod.bound - first)}"),
            cx=percent(0.015 + 0.97 * (pod.bound - first) / (last - first)),
            cy="9",
            r="4.5",
        )
        for pod in gang.pods
        if pod.bound is not None
    ]
    line = element("line", x1="0", x2="100%", y1="9", y2="9")
    ends = [
        element("text", figures.duration(0.0), x="0", y="32"),
        element("text", length, x="100%", y="32", text_anchor="end"),
    ]
    return element("svg", line, *signs, *ends, width="100%", height=number(38), aria_hidden="true")
