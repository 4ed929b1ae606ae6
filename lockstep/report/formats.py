"""The formats of the report; the same receipts always give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.report import html, junit, markdown
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt

FORMATS: dict[str, Callable[[Sequence[Receipt], Matrix | None], str]] = {
    "html": html.render,
    "markdown": markdown.render,
    "junit": junit.render,
}
SUFFIXES = {"html": ".html", "markdown": ".md", "junit": ".xml"}
"""The usual suffix of each format's file."""
