"""The report as a page: one file that needs no network and no script.

Receipts have text from the cluster, such as event messages, which anyone who may create a pod can
write. Jinja2 escapes every value, and `_printable` makes control characters visible, so that the
templates need not care. The page's content security policy forbids scripts and requests.
"""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lockstep.report import canvas, context, figures
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import Failures


def render(
    receipts: Sequence[Receipt], matrix: Matrix | None = None, failures: Failures = ()
) -> str:
    """Make the page of these receipts, with a version matrix if there is one.

    `failures` are steps that failed whatever their receipts say, as the demo knows.
    """
    style = (Path(__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            style=Markup(style),  # noqa: S704 - our own file, and a style sheet must not be escaped
            policy=_policy(style),
            **context.page(receipts, matrix, failures),
        )
    )


def _policy(style: str) -> str:
    """The content security policy: only this style sheet and the empty icon are allowed."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'"


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("lockstep.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for function in (canvas.percent, canvas.pixels):
        templates.filters[function.__name__] = function
    templates.globals["figures"] = figures
    return templates


def _printable(value: Any) -> Any:
    """Prepare a value for the page: None is empty, control characters are made visible."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return figures.visible(value)
    return value
