"""The report: receipts as a page, as Markdown for a pull request, or as JUnit XML for CI."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lockstep.receipt import Receipt
from lockstep.report import html, junit, markdown

Renderer = Callable[[Sequence[Receipt]], str]

FORMATS: dict[str, Renderer] = {
    "html": html.render,
    "markdown": markdown.render,
    "junit": junit.render,
}
"""Each format's renderer; the same receipts always give the same bytes."""

SUFFIXES = {"html": ".html", "markdown": ".md", "junit": ".xml"}
"""The usual ending of each format's file."""
