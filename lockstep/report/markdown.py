"""Markdown for a pull request: the answer and the table at once, the rest folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lockstep.report import environment, figures, versions
from lockstep.report.markup import visible
from lockstep.report.matrix import Cell, Matrix
from lockstep.report.summary import summarize

Receipt = Mapping[str, Any]

_SIGNS = {"yes": "✅", "no": "❌", "unclear": "⚠️"}
_HEAD = ("", "Scenario", "Expected", "Observed", "Bound", "Bind skew", "Release latency", "Time")


def render(receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
    """Make the whole comment."""
    summary = summarize(receipts)
    lines = [f"## {_SIGNS[summary.answer]} {summary.headline}", "", summary.lead, ""]
    lines += [f"- **{step}**: {code(reason)}" for step, reason in summary.reasons]
    lines += ["", *_table(receipts), "", *(_versions(matrix) if matrix else ())]
    lines += ["", *_evidence(receipts), "", *_environment(receipts)]
    # Two blank lines in a row say no more than one.
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def code(text: str) -> str:
    """Write text from the cluster as code: it cannot become markup, a link or a mention there."""
    flat = " ".join(visible(text).split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _cell(text: str) -> str:
    """A bar ends a cell even inside code."""
    return code(text).replace("|", "\\|")


def _table(receipts: Sequence[Receipt]) -> Iterator[str]:
    yield f"| {' | '.join(_HEAD)} |"
    yield "|---|---|---|---|--:|--:|--:|--:|"
    for receipt in receipts:
        verdict = receipt["verdict"]
        cells = (
            "✅" if verdict["ok"] else "❌",
            receipt["step"],
            _cell(verdict["expected"]),
            _cell(verdict["observed"]),
            figures.share(verdict["bound"], verdict["size"]),
            figures.duration(verdict.get("bindSkewSeconds")),
            figures.duration(verdict.get("releaseLatencySeconds")),
            figures.duration(receipt["timeline"]["end"]),
        )
        yield f"| {' | '.join(cells)} |"


def _versions(matrix: Matrix) -> Iterator[str]:
    steps = matrix.steps
    yield f"**Versions** ({code(versions.COMMAND)}, {figures.day(matrix.created_at)})\n"
    yield f"| LWS | Volcano | {' | '.join(steps)} |"
    yield f"|{'---|' * (2 + len(steps))}"
    for row in matrix.rows:
        shown = [_observed(row.cell(step)) for step in steps]
        yield f"| {row.lws} | {row.volcano} | {' | '.join(shown)} |"
    yield ""
    yield from (f"- **{where}**: {code(why)}" for where, why in matrix.failures())


def _observed(cell: Cell | None) -> str:
    if cell is None:
        return figures.NOTHING
    return f"{'✅' if cell.ok else '❌'} {_cell(cell.observed)}"


def _evidence(receipts: Sequence[Receipt]) -> Iterator[str]:
    yield "<details><summary>Evidence</summary>"
    for receipt in receipts:
        if receipt["evidence"]:
            yield f"\n**{receipt['step']}**\n"
            yield from (f"- {code(fact)}" for fact in receipt["evidence"])
    yield "\n</details>"


def _environment(receipts: Sequence[Receipt]) -> Iterator[str]:
    yield "<details><summary>Versions, settings, how to repeat</summary>"
    for title, facts in environment.described(receipts):
        listed = ", ".join(code(f"{name}: {value}") for name, value in facts.items())
        yield f"\n{title}: {listed or 'not recorded'}"
    yield "\n```sh"
    yield from environment.commands(receipts)
    yield "```\n\n</details>"
