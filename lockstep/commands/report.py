"""`lockstep report`: rebuild the report from receipts; needs no cluster."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from lockstep import paths, report
from lockstep.errors import LockstepError
from lockstep.report import matrix, receipt
from lockstep.report.summary import summarize

HELP = "rebuild the report from receipts alone, with no cluster"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
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
        choices=sorted(report.FORMATS),
        default="html",
        help="html: a page; markdown: for a pull request; junit: XML for CI (default: html)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print what was written, and the answer, as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Write the report; the exit code says whether that worked, the report says the rest."""
    receipts = receipt.load(args.receipts)
    text = report.FORMATS[args.format](receipts, matrix.beside(args.receipts))
    if args.output == "-":
        if args.json:
            raise LockstepError("--json and --output - both want standard output; leave one out")
        sys.stdout.write(text)
        return 0
    default = paths.project_dir() / "out" / f"report{report.SUFFIXES[args.format]}"
    output = Path(args.output) if args.output else default
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LockstepError(f"cannot write {output} ({error.strerror}); pass --output") from error
    _tell(args, receipts, output)
    return 0


def _tell(args: argparse.Namespace, receipts: list[receipt.Receipt], output: Path) -> None:
    summary = summarize(receipts)
    if args.json:
        told = {
            "output": str(output),
            "format": args.format,
            "answer": summary.answer,
            "headline": summary.headline,
            "verdicts": {one["step"]: one["verdict"]["ok"] for one in receipts},
        }
        print(json.dumps(told))
    else:
        print(f"{output}: {summary.headline} {summary.lead}")
