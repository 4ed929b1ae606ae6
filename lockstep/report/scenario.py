"""One receipt on the page: its figures, its picture, its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.report import burst, figures, parts
from lockstep.report import picture as timeline
from lockstep.report.lanes import gangs
from lockstep.report.markup import Markup, element, join
from lockstep.report.summary import MEANINGS, reason

Receipt = Mapping[str, Any]


def section(receipt: Receipt) -> Markup:
    """Tell one scenario from its verdict down to the raw events."""
    step, verdict = receipt["step"], receipt["verdict"]
    scale = timeline.own_scale(receipt)
    picture = timeline.picture(receipt, scale, f"{step}-picture")
    return element(
        "section",
        element(
            "div", element("h2", step), parts.badge(verdict), _wanted(verdict), class_="heading"
        ),
        _meaning(receipt),
        _figures(receipt),
        element(
            "figure",
            picture,
            burst.lens(receipt, scale),
            parts.legend(receipt),
            _deeds(receipt),
            class_="panel",
        ),
        _evidence(receipt),
        _table(receipt),
        _events(receipt),
        id=step,
        aria_label=f"Scenario {step}",
    )


def _meaning(receipt: Receipt) -> Markup:
    """Explain a verdict: in our words where it is as expected, else why it is not."""
    verdict = receipt["verdict"]
    if verdict["ok"]:
        return element("p", MEANINGS.get(verdict["observed"], verdict["reason"]), class_="soft")
    return element("p", reason(receipt), class_="failure")


def _wanted(verdict: Mapping[str, Any]) -> Markup | None:
    if verdict["ok"]:
        return None
    return element("span", f"expected {verdict['expected']}", class_="soft")


def _figures(receipt: Receipt) -> Markup:
    shown = [("bound", "Pods bound"), ("bindSkewSeconds", "Bind skew")]
    if receipt["verdict"].get("releaseLatencySeconds") is not None:
        shown.append(("releaseLatencySeconds", "Release latency"))
    shown.append(("end", "Recorded"))
    rows = [
        element("div", element("dt", title), element("dd", parts.field(receipt, name)))
        for name, title in shown
    ]
    measures = receipt["verdict"].get("measures") or {}
    rows += [
        element(
            "div", element("dt", figures.words(name)), element("dd", parts.measure(receipt, name))
        )
        for name in measures
    ]
    return element("dl", *rows, class_="figures")


def _deeds(receipt: Receipt) -> Markup | None:
    """List what was done to the workload, under the numbers in its picture."""
    done = timeline.deeds(receipt)
    if not done:
        return None
    items = [
        element(
            "li", element("span", figures.moment(deed["at"]), class_="soft"), f" {deed['message']}"
        )
        for deed in done
    ]
    return element("ol", *items, class_="deeds")


def _evidence(receipt: Receipt) -> Markup | None:
    if not receipt["evidence"]:
        return None
    facts = [element("li", fact) for fact in receipt["evidence"]]
    return join(element("ul", *facts, class_="evidence"))


def _table(receipt: Receipt) -> Markup:
    """Give the picture's content as text."""
    head = ("Pod", "Role", "Created", "Bound", "Running", "Finished", "Deleted", "Node")
    rows = [
        element(
            "tr",
            element("th", pod.name, scope="row", class_="mono"),
            element("td", pod.role or figures.NOTHING),
            *(
                element("td", pod.told.get(what, figures.NOTHING))
                for what in ("created", "bound", "running", "finished", "deleted")
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
        (
            taint["at"],
            figures.told(taint),
            f"{taint['node']}: taint {taint['key']} {taint['change']}",
        )
        for taint in told["taints"]
    ]
    changes += [
        (phase["at"], figures.told(phase), f"PodGroup {group['name']}: {phase['phase']}")
        for group in told["podGroups"]
        for phase in group["phases"]
    ]
    if not changes:
        return None
    rows = [
        element("tr", element("td", when), element("td", text)) for _, when, text in sorted(changes)
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
