"""The report: receipts as a page, as Markdown for a pull request, or as JUnit XML for CI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lockstep.report import html, junit, markdown
from lockstep.report.receipt import Receipt
from lockstep.walk.matrix import Matrix


class Renderer(Protocol):
    """Receipts, and a version matrix if there is one, as text."""

    def __call__(self, receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
        """Make the whole text."""


FORMATS: dict[str, Renderer] = {
    "html": html.render,
    "markdown": markdown.render,
    "junit": junit.render,
}
"""Each format's renderer; the same input always give the same bytes."""

SUFFIXES = {"html": ".html", "markdown": ".md", "junit": ".xml"}
"""The usual ending of each format's file."""
