"""The version matrix in the report: which pairs of versions keep the promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.report import figures, parts
from lockstep.report.markup import Markup, element
from lockstep.walk import matrix as matrices

Row = Mapping[str, Any]

COMMAND = "python -m lockstep matrix"


def section(matrix: matrices.Matrix) -> Markup:
    """Make the table, and say below it why a verdict is not as expected."""
    steps = matrices.steps(matrix)
    titles = ("LWS", "Volcano", *steps)
    head = element(
        "tr",
        *(element("th", title, scope="col", role="columnheader") for title in titles),
        role="row",
    )
    measured = figures.day(matrix["createdAt"])
    caption = (
        f"The same scenarios on each supported pair, on Kubernetes {matrix['kubernetes']}, "
        f"measured {measured} by "
    )
    return element(
        "section",
        element("h2", "Versions"),
        element(
            "table",
            element("caption", caption, element("code", COMMAND), "."),
            element("thead", head, role="rowgroup"),
            element("tbody", *(_row(row, steps) for row in matrix["rows"]), role="rowgroup"),
            class_="cards",
            role="table",
        ),
        *(
            element("p", element("strong", where), f": {why}", class_="failure")
            for where, why in failures(matrix)
        ),
        id="versions",
        aria_label="Versions",
    )


def _row(row: Row, steps: list[str]) -> Markup:
    cells = {cell["step"]: cell for cell in row["cells"]}
    return element(
        "tr",
        element("th", row["lws"], scope="row", role="rowheader"),
        element("td", row["volcano"], role="cell", data_label="Volcano"),
        *(
            element(
                "td",
                parts.badge(cells[step]) if step in cells else figures.NOTHING,
                role="cell",
                data_label=step,
            )
            for step in steps
        ),
        role="row",
    )


def failures(matrix: matrices.Matrix) -> Iterator[tuple[str, str]]:
    """Say where a verdict is not as expected, and why."""
    for row in matrix["rows"]:
        for cell in row["cells"]:
            if not cell["ok"]:
                where = f"{cell['step']} on LWS {row['lws']}, Volcano {row['volcano']}"
                yield where, cell["reason"] or "not as expected"
