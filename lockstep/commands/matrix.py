"""`lockstep matrix`: the same scenarios over every supported pair of versions."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Sequence

import msgspec
from rich.console import Console

import toolchain
from lockstep import versions
from lockstep.commands.demo import as_interrupt
from lockstep.errors import LockstepError
from lockstep.report import matrix as document
from lockstep.report import receipt
from lockstep.report.matrix import Matrix
from lockstep.walk import demo, matrix
from lockstep.walk.demo import Outcome, Step
from lockstep.walk.matrix import Pair
from lockstep.walk.terminal import narrow_table
from toolchain.making import default_groups

HELP = "judge the scenarios on every supported pair of LWS and Volcano, and write out/matrix.json"
BROKEN = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the run."""
    parser.add_argument(
        "--lws",
        action="append",
        default=[],
        choices=versions.LWS_SUPPORTED,
        help="only pairs with this version of LWS (may be repeated)",
    )
    parser.add_argument("--json", action="store_true", help="print the matrix as JSON")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 only when every verdict on every pair is as expected."""
    with demo.alone():
        return _try_all(args)


def _try_all(args: argparse.Namespace) -> int:
    console = Console(stderr=args.json)
    pairs = matrix.pairs(args.lws)
    toolchain.ensure([*default_groups(), *_others(pairs)])
    signal.signal(signal.SIGTERM, as_interrupt)
    found = matrix.build({pair: try_pair(pair, console) for pair in pairs})
    path = document.write(found, matrix.home())
    show(console, found)
    console.print(f"\nmatrix: {path}\nreport: {_report(pairs, found)}", highlight=False)
    if args.json:
        print(msgspec.json.encode(found).decode())
    return 0 if found.is_good else BROKEN


def _others(pairs: Sequence[Pair]) -> list[str]:
    """What the usual toolchain lacks."""
    return [f"lws-{pair.lws}" for pair in pairs if pair.lws != versions.LWS_DEFAULT]


def steps() -> list[Step]:
    """The columns."""
    beyond = [step for step in demo.BEYOND if step.scenario in matrix.BEYOND_THE_ARTICLE]
    return [*demo.ARTICLE, *beyond]


def try_pair(pair: Pair, console: Console) -> list[Outcome]:
    """Walk the steps on a cluster made for the pair; one that fails does not stop the others."""
    console.print(f"\n[bold]LWS {pair.lws}, Volcano {pair.volcano}[/bold]", highlight=False)
    walk = demo.Walk("gang", console, name=pair.stack, config=pair.config, receipts=pair.receipts)
    try:
        return walk.run(steps())
    except LockstepError as error:
        console.print(f"  {error}", highlight=False, markup=False)
        return [Outcome(step, 0.0, None, str(error)) for step in steps()]
    finally:
        walk.remove()


def show(console: Console, found: Matrix) -> None:
    """Print the table: a row per pair, a column per step."""
    table = narrow_table("Versions")
    for title in ("LWS", "Volcano", *found.steps):
        table.add_column(title, overflow="fold")  # on a narrow screen, too, all of it
    for row in found.rows:
        cells = [
            f"[green]{cell.observed}[/green]" if cell.ok else f"[red]{cell.observed} ✗[/red]"
            for cell in row.cells
        ]
        table.add_row(row.lws, row.volcano, *cells)
    console.print()
    console.print(table)


def _report(pairs: Sequence[Pair], found: Matrix) -> str:
    """Put the matrix into the demo's report; without one, into a report on one of the pairs."""
    from lockstep.report.formats import FORMATS  # only here: it costs time to load

    usual = [pair for pair in pairs if pair.lws == versions.LWS_DEFAULT]
    folders = [matrix.home() / "receipts", *(pair.receipts for pair in (*usual, *pairs))]
    folder = next((one for one in folders if any(one.glob("*.json"))), None)
    if folder is None:
        return "none, as there is no receipt"
    path = matrix.home() / "report.html"
    path.write_text(FORMATS["html"](receipt.load(folder), found), encoding="utf-8")
    return str(path)
