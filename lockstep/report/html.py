"""The page: one file that needs no network and no script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lockstep.report import comparison, environment, figures, parts, scenario, versions
from lockstep.report.markup import Markup, element, join
from lockstep.report.matrix import Matrix
from lockstep.report.summary import Summary, summarize

Receipt = Mapping[str, Any]

COLUMNS = (
    ("expected", "Expected"),
    ("observed", "Observed"),
    ("bound", "Bound"),
    ("bindSkewSeconds", "Bind skew"),
    ("releaseLatencySeconds", "Release latency"),
    ("end", "Time"),
)
"""Fields of a receipt in the verdict table, with their headings."""
_WORDS = ("expected", "observed")


def render(receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
    """Make the whole page."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    summary = summarize(receipts)
    body = join(
        element("a", "Skip to the verdicts", class_="skip", href="#verdicts"),
        parts.sprite(),
        _header(receipts, summary),
        element(
            "main",
            _verdicts(receipts),
            comparison.sections(receipts),
            *(scenario.section(receipt) for receipt in receipts),
            versions.section(matrix) if matrix else None,
            environment.section(receipts),
        ),
        element(
            "footer", "Made by ", element("code", "python -m lockstep report"), " from receipts."
        ),
    )
    page = element("html", _head(style, summary), element("body", body), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(style: str, summary: Summary) -> Markup:
    """Forbid everything that the page does not need: no script can run, nothing can be fetched."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="description", content=f"{summary.headline} {summary.lead}"),
        element("link", rel="icon", href="data:,"),
        element("title", f"Lockstep: {summary.headline}"),
        element("style", Markup(style)),
    )


def _header(receipts: Sequence[Receipt], summary: Summary) -> Markup:
    clusters = sorted({f"{r['cluster']['name']} ({r['cluster']['provider']})" for r in receipts})
    last = max(receipt["createdAt"] for receipt in receipts)
    first, comma, rest = summary.headline.partition(":")
    headline = [element("em", first + comma), rest] if rest else [summary.headline]
    return element(
        "header",
        element(
            "div",
            element("strong", parts.logo(), "Lockstep"),
            element("span", ", ".join(clusters)),
            element("time", figures.day(last), datetime=last),
            class_="brand",
        ),
        element(
            "div",
            element("p", "Does the gang scheduler keep its promise here?", class_="question"),
            element("h1", *headline),
            element("p", summary.lead, class_="lead"),
            *(
                element("p", element("strong", step), f": {reason}", class_="failure")
                for step, reason in summary.reasons
            ),
            class_=f"answer {summary.answer}",
        ),
    )


def _verdicts(receipts: Sequence[Receipt]) -> Markup:
    """Make the verdict table; roles are spelled out since cards on a phone would lose them."""
    head = element(
        "tr",
        element("th", "Scenario", scope="col", role="columnheader"),
        *(
            element("th", title, scope="col", role="columnheader", class_=_column_class(name))
            for name, title in COLUMNS
        ),
        role="row",
    )
    return element(
        "section",
        element(
            "table",
            element("caption", "Each scenario was recorded while it happened, then judged."),
            element("thead", head, role="rowgroup"),
            element("tbody", *map(_row, receipts), role="rowgroup"),
            class_="cards",
            role="table",
        ),
        id="verdicts",
        aria_label="Verdicts",
    )


def _row(receipt: Receipt) -> Markup:
    step = receipt["step"]
    link = element("a", step, href=f"#{step}")
    return element(
        "tr",
        element("th", link, scope="row", role="rowheader"),
        *(
            element(
                "td",
                parts.field(receipt, name),
                class_=_cell_class(receipt, name),
                role="cell",
                data_label=title,
            )
            for name, title in COLUMNS
        ),
        role="row",
    )


def _column_class(name: str) -> str | None:
    return None if name in _WORDS else "number"


def _cell_class(receipt: Receipt, name: str) -> str | None:
    """Mark what was not measured: a phone need not show it."""
    kind = _column_class(name)
    return f"{kind} nothing" if kind and parts.value(receipt, name) is None else kind
