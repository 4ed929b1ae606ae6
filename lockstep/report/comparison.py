"""The argument at a glance: a gang and its control side by side, on one time scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.report import figures, lanes, parts
from lockstep.report import picture as timeline
from lockstep.report.markup import Markup, element, join
from lockstep.report.scale import Scale
from lockstep.report.summary import pairs, stranded, whole_gangs

Receipt = Mapping[str, Any]

_NOTICEABLE = 0.97
"""A recording that ends before this share of the picture leaves a grey rest that one sees."""


def sections(receipts: Sequence[Receipt]) -> Markup:
    """Put each control beside its gang."""
    return join(*(_section(receipts, gang, control) for gang, control in pairs(receipts)))


def _section(receipts: Sequence[Receipt], gang: Receipt, control: Receipt) -> Markup:
    """Draw two receipts on one time scale, each from its first pod."""
    starts = [(one, _first_pod(one)) for one in (gang, control)]
    ends = [one["timeline"]["end"] - origin for one, origin in starts]
    moments = [time for one, origin in starts for time in timeline.moments(one, origin)]
    scale = Scale(0.0, max(ends), [*moments, *ends])
    name = f"compare-{control['step']}"
    panels = [
        _panel(one, timeline.picture(one, scale, f"{name}-{side}", origin=origin))
        for side, (one, origin) in zip(("gang", "control"), starts, strict=True)
    ]
    told = "Both pictures have the same time scale; it starts when the first pod was created."
    if scale.at(min(ends)) < _NOTICEABLE:
        told += " Grey is the time after a recording's end."
    return element(
        "section",
        element("h2", _title(gang)),
        element("p", told, class_="soft"),
        element("div", *panels, class_="panels"),
        parts.legend(gang, control),
        _then(receipts, gang),
        id=name,
        class_="comparison",
        aria_label=f"{gang['step']} and {control['step']} compared",
    )


def _title(gang: Receipt) -> str:
    before = "With"
    if gang["verdict"]["observed"] == "held":
        before = "The same shortage, with"
    elif gang["expectation"]["groups"] > 1:
        before = "More gangs than room, with"
    return f"{before} and without gang scheduling"


def _panel(receipt: Receipt, picture: Markup) -> Markup:
    gang, wasted = receipt["expectation"]["gang"], stranded(receipt)
    count, what = _result(receipt, bool(wasted))
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
            element("p", element("span", count, class_="big"), what, class_="result"),
            element("p", waste, class_="waste"),
        ),
        picture,
        class_="panel together" if gang and receipt["verdict"]["ok"] else "panel apart",
    )


def _result(receipt: Receipt, wasted: bool) -> tuple[str, str]:
    """Say in a few words what came out: of many gangs how many ran, of one how much of it."""
    verdict = receipt["verdict"]
    if receipt["expectation"]["groups"] > 1:
        return figures.share(*whole_gangs(receipt)), " gangs ran whole"
    fate = ""
    if verdict["observed"] == "held":
        fate = ": they wait together"
    elif wasted and verdict["bound"] < verdict["size"]:
        fate = ": they wait for the rest"
    return figures.share(verdict["bound"], verdict["size"]), f" pods bound{fate}"


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
    pods = receipt["timeline"]["pods"]
    times = [lanes.start_of(mark) for pod in pods for mark in pod["marks"]]
    return float(min(times, default=0.0))
