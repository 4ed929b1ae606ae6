"""The report as Markdown for a pull request: answer and table first, the rest folded."""

import re
from collections.abc import Iterator, Sequence

from lockstep.report import environment, figures
from lockstep.report.context import verdict_row
from lockstep.report.figures import visible
from lockstep.report.matrix import Cell, Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import summarize

_SIGNS = {"yes": "✅", "no": "❌", "unclear": "⚠️"}


def render(receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
    """Make the Markdown of these receipts, with a version matrix if there is one."""
    summary = summarize(receipts)
    lines = [f"## {_SIGNS[summary.answer]} {summary.headline}", "", summary.lead, ""]
    lines += [f"- **{step}**: {code(reason)}" for step, reason in summary.reasons]
    lines += ["", *_table(receipts), "", *(versions(matrix) if matrix else ())]
    lines += ["", *_evidence(receipts), "", *_environment(receipts)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def code(text: str) -> str:
    """Format text from the cluster as code, where it cannot become markup, a link or a mention."""
    flat = " ".join(visible(text).split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _cell(text: str) -> str:
    """Format a table cell: a bar would end the cell even inside code."""
    return code(text).replace("|", "\\|")


def _table(receipts: Sequence[Receipt]) -> Iterator[str]:
    titles = [field.title for field in verdict_row(receipts[0])]
    yield f"|  | Scenario | {' | '.join(titles)} |"
    yield "|---|---|---|---|--:|--:|--:|--:|"
    for receipt in receipts:
        sign = "✅" if receipt.verdict.ok else "❌"
        expected, observed, *numbers = [field.text for field in verdict_row(receipt)]
        cells = (sign, receipt.step, _cell(expected), _cell(observed), *numbers)
        yield f"| {' | '.join(cells)} |"


def versions(matrix: Matrix) -> Iterator[str]:
    """Yield the lines of a version matrix: a table, and why a pair does not work."""
    steps, measured = matrix.steps, figures.day(matrix.created_at)
    yield f"**Versions** ({code('lockstep matrix')}, Kubernetes {matrix.kubernetes}, {measured})\n"
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
        if receipt.evidence:
            yield f"\n**{receipt.step}**\n"
            yield from (f"- {code(fact)}" for fact in receipt.evidence)
    yield "\n</details>"


def _environment(receipts: Sequence[Receipt]) -> Iterator[str]:
    yield "<details><summary>Versions, settings, how to repeat</summary>"
    for title, facts in environment.described(receipts):
        listed = ", ".join(code(f"{name}: {value}") for name, value in facts.items())
        yield f"\n{title}: {listed or 'not recorded'}"
    yield "\n```sh"
    yield from environment.commands(receipts)
    yield "```\n\n</details>"
