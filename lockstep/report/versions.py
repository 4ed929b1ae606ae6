"""The version matrix in the report: which pairs of versions keep the promise."""

from __future__ import annotations

import msgspec

from lockstep.report import figures, parts
from lockstep.report.markup import Markup, element
from lockstep.report.matrix import Cell, Matrix, Row

COMMAND = "python -m lockstep matrix"


def section(matrix: Matrix) -> Markup:
    """Make the table, and say below it why a verdict is not as expected."""
    steps = matrix.steps
    titles = ("LWS", "Volcano", *steps)
    head = element(
        "tr",
        *(element("th", title, scope="col", role="columnheader") for title in titles),
        role="row",
    )
    measured = figures.day(matrix.created_at)
    caption = (
        f"The same scenarios on each supported pair, on Kubernetes {matrix.kubernetes}, "
        f"measured {measured} by "
    )
    return element(
        "section",
        element("h2", "Versions"),
        element(
            "table",
            element("caption", caption, element("code", COMMAND), "."),
            element("thead", head, role="rowgroup"),
            element("tbody", *(_row(row, steps) for row in matrix.rows), role="rowgroup"),
            class_="cards",
            role="table",
        ),
        *(
            element("p", element("strong", where), f": {why}", class_="failure")
            for where, why in matrix.failures()
        ),
        id="versions",
        aria_label="Versions",
    )


def _row(row: Row, steps: list[str]) -> Markup:
    return element(
        "tr",
        element("th", row.lws, scope="row", role="rowheader"),
        element("td", row.volcano, role="cell", data_label="Volcano"),
        *(
            element(
                "td",
                _badge(row.cell(step)),
                role="cell",
                data_label=step,
            )
            for step in steps
        ),
        role="row",
    )


def _badge(cell: Cell | None) -> Markup | str:
    return figures.NOTHING if cell is None else parts.badge(msgspec.to_builtins(cell))
