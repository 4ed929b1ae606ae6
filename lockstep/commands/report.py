"""`lockstep report`: rebuild the report from receipts, without a cluster."""

import argparse
import json
import sys
from pathlib import Path

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.report import html, junit, markdown, matrix, receipt
from lockstep.report.receipt import Receipt
from lockstep.report.summary import summarize

HELP = "rebuild the report from receipts, without a cluster"

FORMATS = {"html": html.render, "markdown": markdown.render, "junit": junit.render}
SUFFIXES = {"html": ".html", "markdown": ".md", "junit": ".xml"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--receipts",
        type=Path,
        metavar="FOLDER",
        default=receipt.home(),
        help="where the receipts are (default: out/receipts)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="the file to write, - for standard output (default: out/report.html, .md or .xml)",
    )
    parser.add_argument(
        "--format",
        choices=sorted(FORMATS),
        default="html",
        help="html: a page; markdown: for a pull request; junit: XML for CI (default: html)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print what was written, and the answer, as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Write the report; the exit code is 0 also when a verdict is not as expected."""
    receipts = receipt.load(args.receipts)
    text = FORMATS[args.format](receipts, matrix.beside(args.receipts))
    if args.output == "-":
        if args.json:
            raise LockstepError(
                "--json and --output - both write to standard output; use only one of them"
            )
        sys.stdout.write(text)
        return 0
    default = paths.out_dir() / f"report{SUFFIXES[args.format]}"
    output = Path(args.output) if args.output else default
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LockstepError(f"cannot write {output} ({error.strerror}); pass --output") from error
    _tell(args, receipts, output)
    return 0


def _tell(args: argparse.Namespace, receipts: list[Receipt], output: Path) -> None:
    summary = summarize(receipts)
    failed = receipt.failed_folder(args.receipts)
    kept = len(list(failed.glob("*.json")))
    if args.json:
        told = {
            "output": str(output),
            "format": args.format,
            "answer": summary.answer,
            "headline": summary.headline,
            "verdicts": {one.step: one.verdict.ok for one in receipts},
            "failedReceiptsKept": kept,
        }
        print(json.dumps(told))
    else:
        print(f"{paths.shown(output)}: {summary.headline} {summary.lead}")
        if kept:
            print(f"earlier receipts with a failed verdict: {kept}, in {paths.shown(failed)}")
