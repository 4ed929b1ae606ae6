"""`lockstep up`: deploy one stack and print its verdicts."""

import argparse
import json
import sys
import time
from pathlib import Path

import msgspec
from rich.console import Console

from lockstep import paths
from lockstep.commands import EXIT_FAILED
from lockstep.report import receipt
from lockstep.walk import evidence, terminal
from lockstep.walk.evidence import Evidence
from lockstep.walk.outcome import ReceiptSummary, VerdictSummary, read_receipt
from lockstep.walk.stack import Stack, Update

HELP = "deploy a stack and judge its scenarios: tools, cluster, platform, workload, verdict"


def configure(parser: argparse.ArgumentParser) -> None:
    """Take the name of a stack."""
    parser.add_argument("stack", help="a stack in stacks/, such as gang")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Deploy; exit 0 only when the update succeeded, which every verdict must."""
    console = terminal.make_console(stderr=args.json)
    stack = Stack(args.stack)
    stack.write_config()
    stack.ensure_tools()
    started = time.time()
    log = stack.start_log()
    try:
        with terminal.live_view(console) as on_progress:
            update = stack.up(on_progress)
    except BaseException as error:
        error.add_note(_what_next(stack, _evidence(stack, log, started)))
        raise
    found = Evidence() if update.ok else _evidence(stack, log, started)
    verdicts = _verdicts(update, started)
    for name, verdict in verdicts.items():
        terminal.show_verdict(console, name, verdict)
    if args.json:
        result = {
            "stack": stack.name,
            "ok": update.ok,
            "reason": update.reason,
            "seconds": round(update.seconds, 1),
            "verdicts": msgspec.to_builtins(verdicts),
            **found.to_mapping(),
        }
        print(json.dumps(result))
    if update.ok:
        _show_success(console, stack, update)
        return 0
    console.print()
    print(f"lockstep: {stack.name} failed: {update.reason}", file=sys.stderr)
    print(_what_next(stack, found), file=sys.stderr)
    return EXIT_FAILED


def _verdicts(update: Update, started: float) -> dict[str, VerdictSummary]:
    """Return the verdicts: the stack's outputs, or the receipts of an update that failed."""
    if update.ok:
        outputs = update.events.outputs.get("verdicts", {})
        return {name: msgspec.convert(value, VerdictSummary) for name, value in outputs.items()}
    return {path.stem: found.verdict for path, found in _receipts(started).items()}


def _receipts(started: float) -> dict[Path, ReceiptSummary]:
    """Return the receipts that an update wrote which began at a time."""
    files = sorted(receipt.home().glob("*.json"))
    written = {file: read_receipt(file) for file in files if file.stat().st_mtime >= started}
    return {path: found for path, found in written.items() if found}


def _evidence(stack: Stack, log: Path, started: float) -> Evidence:
    """Return what there is of the scenarios that failed, or that have no verdict."""
    receipts, cluster = _receipts(started), stack.cluster_name()
    good = {found.scenario for found in receipts.values() if found.verdict.ok}
    return Evidence(
        receipts=[path for path, found in receipts.items() if not found.verdict.ok],
        recordings=[
            path for path in evidence.recordings(cluster, started) if path.stem not in good
        ],
        logs=[log, *evidence.logs_folder(cluster)],
    )


def _what_next(stack: Stack, found: Evidence) -> str:
    """Return the lines after the reason of a failure: where the evidence is, and what to do."""
    meaning = "  # judges again" if found.receipts else ""
    return terminal.aligned(
        [
            *found.rows(),
            *_cluster(stack),
            ("again", f"make up STACK={stack.name}{meaning}"),
            _remove(stack),
        ]
    )


def _show_success(console: Console, stack: Stack, update: Update) -> None:
    """Print where the results are, how to look at the cluster, and how to remove the stack."""
    changed = update.events.changed
    console.print(f"\n{stack.name} is up: {changed} changes in {update.seconds:.1f} s")
    rows = [
        ("receipts", paths.shown(receipt.home())),
        ("report", ".venv/bin/lockstep report"),
        *_cluster(stack),
        ("outputs", f". ./activate && pulumi stack output -s {stack.name}"),
        _remove(stack),
    ]
    console.print(terminal.aligned(rows), highlight=False, markup=False)


def _cluster(stack: Stack) -> list[tuple[str, str]]:
    kubeconfig = paths.cluster_dir(stack.cluster_name()) / "kubeconfig"
    command = f"kubectl --kubeconfig {paths.shown(kubeconfig)} get pods -A"
    return [("cluster", command)] if kubeconfig.exists() else []


def _remove(stack: Stack) -> tuple[str, str]:
    return ("remove", f"make down STACK={stack.name}")
