"""`lockstep matrix`: judge the same scenarios on every supported pair of LWS and Volcano."""

import argparse
import signal
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console

from lockstep import paths, versions
from lockstep.commands import EXIT_FAILED
from lockstep.errors import LockstepError
from lockstep.recording.model import instant
from lockstep.report import markdown, receipt
from lockstep.report import matrix as document
from lockstep.report.matrix import Cell, Matrix, Row
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import demo, terminal
from lockstep.walk.outcome import Outcome, Stage, stages
from lockstep.walk.stack import ensure_tools
from lockstep.walk.terminal import narrow_table

BEGIN, END = "<!-- lockstep matrix --docs -->", "<!-- end of the matrix -->"
"""The lines around the table in README.md."""

HELP = "judge the scenarios on every supported pair of LWS and Volcano, and write out/matrix.json"


class Pair(NamedTuple):
    """A version of LWS and a version of Volcano that must work together."""

    lws: str
    volcano: str

    @property
    def receipts(self) -> Path:
        """The folder of the pair's receipts."""
        name = f"lws-{self.lws}-volcano-{self.volcano}"
        return paths.out_dir() / "matrix" / name / "receipts"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the matrix."""
    parser.add_argument(
        "--lws",
        action="append",
        default=[],
        choices=versions.LWS_SUPPORTED,
        help="only pairs with this version of LWS (may be repeated)",
    )
    parser.add_argument(
        "--volcano",
        action="append",
        default=[],
        choices=versions.VOLCANO_SUPPORTED,
        help="only pairs with this version of Volcano (may be repeated)",
    )
    parser.add_argument("--json", action="store_true", help="print the matrix as JSON")
    parser.add_argument(
        "--docs", action="store_true", help="write the table of README.md from the result"
    )


@demo.exclusive_lock()
def run(args: argparse.Namespace) -> int:
    """Exit with 0 only when every verdict on every pair is as expected."""
    console = terminal.make_console(stderr=args.json)
    pairs = supported_pairs(args.lws, args.volcano)
    ensure_tools(lws=[pair.lws for pair in pairs], volcano=[pair.volcano for pair in pairs])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the walk cleans up
    built = build({pair: try_pair(pair, console) for pair in pairs})
    path = document.write(built, paths.out_dir())
    show(console, built)
    rows = [("matrix", paths.shown(path)), ("report", _report(pairs, built))]
    console.print(f"\n{terminal.aligned(rows)}", highlight=False, markup=False)
    if args.docs:
        write_docs(built, paths.checkout_dir() / "README.md")
    if args.json:
        print(msgspec.json.encode(built).decode())
    return 0 if built.is_good else EXIT_FAILED


def supported_pairs(lws: Sequence[str] = (), volcano: Sequence[str] = ()) -> list[Pair]:
    """Return every supported pair, or those with the given versions."""
    pairs = [Pair(*both) for both in product(versions.LWS_SUPPORTED, versions.VOLCANO_SUPPORTED)]
    return [
        pair
        for pair in pairs
        if (not lws or pair.lws in lws) and (not volcano or pair.volcano in volcano)
    ]


def columns() -> list[Stage]:
    """Return the steps that are taken on each pair."""
    return stages(scenario for scenario in SCENARIOS.values() if scenario.in_matrix)


def try_pair(pair: Pair, console: Console) -> list[Outcome]:
    """Take the steps on a cluster with the pair's versions; an error does not end the matrix."""
    console.print(f"\n[bold]LWS {pair.lws}, Volcano {pair.volcano}[/bold]", highlight=False)
    # A cluster's name has no dots.
    name = f"matrix-{pair.lws}-{pair.volcano}".replace(".", "-")
    config = {"lwsVersion": pair.lws, "volcanoVersion": pair.volcano}
    walk = demo.Walk("gang", console, name=name, config=config, receipts=pair.receipts)
    try:
        outcomes = walk.run(columns())
    except LockstepError as error:
        console.print(f"  {error}", highlight=False, markup=False)
        outcomes = [Outcome(stage.step, 0.0, None, str(error)) for stage in columns()]
    finally:
        _remove(walk, console)
    return outcomes


def _remove(walk: demo.Walk, console: Console) -> None:
    """Remove a pair's cluster; a failure must not lose the outcomes."""
    try:
        walk.remove()
    except LockstepError as error:
        console.print(f"  {error}", highlight=False, markup=False)


def build(results: Mapping[Pair, Sequence[Outcome]]) -> Matrix:
    """Make the matrix document: a row per pair, a cell per step."""
    return Matrix(
        created_at=instant(datetime.now(UTC)),
        kubernetes=versions.KUBERNETES,
        rows=[Row(*pair, [_cell(one) for one in outcomes]) for pair, outcomes in results.items()],
    )


def _cell(outcome: Outcome) -> Cell:
    return Cell(
        step=outcome.step.name,
        expected=outcome.step.expected,
        observed=outcome.observed,
        ok=outcome.ok,
        reason=outcome.explanation,
        seconds=round(outcome.seconds, 1),
    )


def show(console: Console, built: Matrix) -> None:
    """Print the table: a row per pair, a column per step."""
    table = narrow_table("Versions")
    for title in ("LWS", "Volcano", *built.steps):
        table.add_column(title, overflow="fold")  # a narrow terminal shows all of it, too
    for row in built.rows:
        cells = [
            f"[green]{cell.observed}[/green]" if cell.ok else f"[red]{cell.observed} ✗[/red]"
            for cell in row.cells
        ]
        table.add_row(row.lws, row.volcano, *cells)
    console.print()
    console.print(table, soft_wrap=False)


def write_docs(built: Matrix, path: Path) -> None:
    """Replace the table in a Markdown file."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise LockstepError(f"{path} has no table between {BEGIN} and {END}; restore these lines")
    lines = "\n".join(markdown.versions(built)).strip()
    path.write_text(f"{before}{BEGIN}\n{lines}\n{END}{after}", encoding="utf-8")


def _report(pairs: Sequence[Pair], built: Matrix) -> str:
    """Add the matrix to the demo's report; without a demo, to a report on one of the pairs."""
    from lockstep.report import html  # only here: the import takes time

    defaults = [pair for pair in pairs if pair.lws == versions.LWS_DEFAULT]
    folders = [paths.out_dir() / "receipts", *(pair.receipts for pair in (*defaults, *pairs))]
    folder = next((folder for folder in folders if any(folder.glob("*.json"))), None)
    if folder is None:
        return "none, as there is no receipt"
    path = paths.out_dir() / "report.html"
    path.write_text(html.render(receipt.load(folder), built), encoding="utf-8")
    return paths.shown(path)
