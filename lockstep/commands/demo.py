"""`lockstep demo`: show the scenarios on one cluster, judge each, and write a report."""

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console

from lockstep import paths
from lockstep.commands import EXIT_FAILED
from lockstep.errors import LockstepError
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import demo, terminal
from lockstep.walk.outcome import Outcome, Stage, stages

HELP = "show the scenarios on one cluster, judge each, and write out/report.html"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the demo."""
    parser.add_argument(
        "--stack",
        default="gang",
        choices=["gang", "kind", "existing"],
        help="the cluster: gang is the embedded one (default); kind, existing as in their stacks",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="also show the scenarios beyond the article: contention, preemption, recovery, …",
    )
    parser.add_argument("--step", action="store_true", help="wait for Enter between the steps")
    parser.add_argument("--keep", action="store_true", help="do not remove the stack at the end")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")


@demo.exclusive_lock()
def run(args: argparse.Namespace) -> int:
    """Exit with 0 only when every verdict is as expected."""
    console = terminal.make_console(stderr=args.json)
    walk = demo.Walk(args.stack, console, _wait_for_enter if args.step else None)
    walk.ensure_tools()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the walk cleans up
    chosen = [scenario for scenario in SCENARIOS.values() if args.all or scenario.in_article]
    with _evidence_in_errors(walk):
        outcomes = _walk(walk, stages(chosen), keep=args.keep)
    terminal.show_table(console, outcomes)
    _write_report(console, outcomes)
    if args.json:
        print(json.dumps([outcome.to_mapping() for outcome in outcomes]))
    return _conclude(outcomes)


def _walk(walk: demo.Walk, chosen: Sequence[Stage], *, keep: bool) -> list[Outcome]:
    """Take the steps, and remove the stack whatever happens, unless it is kept in the end."""
    finished = False
    try:
        outcomes = walk.run(chosen)
        finished = True
    finally:
        if keep and finished:
            walk.console.print(f"\nnot removed: stack {walk.stack.name}, config {walk.stack.path}")
        else:
            walk.remove()
    return outcomes


@contextlib.contextmanager
def _evidence_in_errors(walk: demo.Walk) -> Iterator[None]:
    """Add to every error where the evidence is that the walk leaves."""
    try:
        yield
    except BaseException as error:
        if rows := walk.evidence.rows():
            error.add_note(terminal.aligned(rows))
        raise


def _conclude(outcomes: list[Outcome]) -> int:
    """Print the reason of each failure and where its evidence is, last."""
    failed = [outcome for outcome in outcomes if not outcome.ok]
    for outcome in failed:
        print(f"\nlockstep: {outcome.step.name} failed: {outcome.explanation}", file=sys.stderr)
        print(terminal.aligned(outcome.evidence.rows()), file=sys.stderr)
    return EXIT_FAILED if failed else 0


def _write_report(console: Console, outcomes: Sequence[Outcome]) -> None:
    from lockstep.report import html, matrix, receipt  # only here: the imports take time

    receipts, page = paths.out_dir() / "receipts", paths.out_dir() / "report.html"
    if not any(receipts.glob("*.json")):
        page.unlink(missing_ok=True)  # it answers for an earlier walk
        console.print("\nno report: no step reached a verdict", highlight=False)
        return
    failures = [(one.step.name, one.explanation) for one in outcomes if not one.ok]
    text = html.render(receipt.load(receipts), matrix.beside(receipts), failures)
    page.write_text(text, encoding="utf-8")
    rows = [("report", paths.shown(page)), ("receipts", paths.shown(receipts))]
    console.print(f"\n{terminal.aligned(rows)}", highlight=False, markup=False)


def _wait_for_enter(stage: Stage) -> None:
    print(f"\nnext: {stage.step.name}: {stage.step.story}", file=sys.stderr)
    try:
        input("press Enter to go on, Ctrl-C to stop and clean up ")
    except EOFError:
        raise LockstepError(
            "--step waits for Enter, but the input has ended; run the demo in a terminal, "
            "or without --step"
        ) from None
