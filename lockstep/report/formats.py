"""The formats of the report; the same receipts always give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lockstep.report import html, junit, markdown, matrix, receipt
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt


class Renderer(Protocol):
    """A function that makes the text of a report."""

    def __call__(self, receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
        """Make the text from receipts, and from a version matrix if there is one."""


FORMATS: dict[str, Renderer] = {
    "html": html.render,
    "markdown": markdown.render,
    "junit": junit.render,
}
SUFFIXES = {"html": ".html", "markdown": ".md", "junit": ".xml"}
"""The usual suffix of each format's file."""


def write_page(receipts: Path, output: Path) -> Path | None:
    """Write the HTML report of a folder of receipts, with the version matrix beside the folder.

    Return the page's path, or None when the folder has no receipts: after a demo in which no step
    reached a verdict there is nothing to report, and the demo's own result gives the reason.
    """
    if not any(receipts.glob("*.json")):
        return None
    page = html.render(receipt.load(receipts), matrix.beside(receipts))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(page, encoding="utf-8")
    return output
