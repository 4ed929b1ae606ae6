"""`lockstep demo`: scenarios on one cluster, each judged, and a report at the end."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import asdict
from types import FrameType
from typing import Any

from rich.console import Console

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.walk import demo
from lockstep.walk import terminal as live
from lockstep.walk.demo import Outcome, Step

HELP = "walk the scenarios on one cluster, judge each, and write out/report.html"
BROKEN = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of the walk."""
    parser.add_argument(
        "--stack",
        default="gang",
        choices=["gang", "kind", "existing"],
        help="where: gang is the embedded cluster (default); kind and existing as their stacks say",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="go on with the scenarios beyond the article: contention, preemption, recovery, …",
    )
    parser.add_argument("--step", action="store_true", help="wait for Enter between the steps")
    parser.add_argument("--keep", action="store_true", help="leave the last state up")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")


def run(args: argparse.Namespace) -> int:
    """Exit with 0 only when every verdict is as expected."""
    with demo.alone():
        return _walk(args)


def _walk(args: argparse.Namespace) -> int:
    console = Console(stderr=args.json)
    toolchain.ensure()
    signal.signal(signal.SIGTERM, as_interrupt)
    walk = demo.Walk(args.stack, console, _wait_for_enter if args.step else None)
    finished = False
    try:
        outcomes = walk.run((*demo.ARTICLE, *demo.BEYOND) if args.all else demo.ARTICLE)
        finished = True
    finally:
        if args.keep and finished:
            console.print(f"\nleft up: stack {walk.stack.name}, config {walk.stack.path}")
        else:
            walk.remove()
    live.show_table(console, outcomes)
    _report(console)
    if args.json:
        print(json.dumps([_plain(outcome) for outcome in outcomes]))
    return 0 if all(outcome.ok for outcome in outcomes) else BROKEN


def _report(console: Console) -> None:
    from lockstep.report import formats  # only here: it costs time to load

    out = paths.project_dir() / "out"
    page = formats.write_page(out / "receipts", out / "report.html")
    if page is None:
        console.print("\nno report: no step reached a verdict", highlight=False)
    else:
        console.print(f"\nreport: {page}\nreceipts: {out / 'receipts'}", highlight=False)


def _wait_for_enter(step: Step) -> None:
    print(f"\nnext: {step.name}: {step.story}", file=sys.stderr)
    try:
        input("press Enter to go on, Ctrl-C to stop and clean up ")
    except EOFError:
        raise LockstepError(
            "--step waits for Enter, but the input has ended; run it in a terminal, or without it"
        ) from None


def as_interrupt(_number: int, _frame: FrameType | None) -> None:
    """Clean up also when asked to end: a signal handler."""
    raise KeyboardInterrupt


def _plain(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "ok": outcome.ok}
