"""The argument at a glance: a gang and its control side by side, on one time scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.report import figures, parts, timeline
from lockstep.report.markup import Markup, element
from lockstep.report.scale import Scale
from lockstep.report.summary import pair, stranded

Receipt = Mapping[str, Any]

_NOTICEABLE = 0.97
"""A recording that ends before this share of the picture leaves a grey rest that one sees."""


def section(receipts: Sequence[Receipt]) -> Markup | None:
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
        parts.legend(*chosen),
        _then(receipts, chosen[0]),
        id="comparison",
        aria_label="Comparison",
    )


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
