"""The report: receipts as a page, as Markdown for a pull request, or as JUnit XML for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lockstep.report import html, junit, markdown, matrix, receipt
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt


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


def write_page(receipts: Path, output: Path) -> Path | None:
    """Write the HTML report of a folder of receipts, with the version matrix beside the folder.

    Return the page's path, or None when the folder has no receipts: after a walk in which no step
    reached a verdict there is nothing to report, and the walk's own result says why.
    """
    if not any(receipts.glob("*.json")):
        return None
    page = html.render(receipt.load(receipts), matrix.beside(receipts))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    return output
