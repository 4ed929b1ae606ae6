"""`lockstep up`: deploy one stack and print its verdicts."""

import argparse
import json
import os
import sys
import time

import msgspec
from rich.console import Console

from lockstep import paths
from lockstep.commands import EXIT_FAILED
from lockstep.report import receipt
from lockstep.walk import terminal
from lockstep.walk.outcome import VerdictSummary, read_verdict
from lockstep.walk.stack import Stack, Update

HELP = "deploy a stack and judge its scenarios: tools, cluster, platform, workload, verdict"


def configure(parser: argparse.ArgumentParser) -> None:
    """Take the name of a stack."""
    parser.add_argument("stack", help="a stack in stacks/, such as gang")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Deploy; exit 0 only when the update succeeded, which every verdict must."""
    console = Console(stderr=args.json)
    stack = Stack(args.stack)
    stack.write_config()
    stack.ensure_tools()
    started = time.time()
    with terminal.live_view(console) as on_progress:
        update = stack.up(on_progress)
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
        }
        print(json.dumps(result))
    if update.ok:
        _show_next_steps(console, stack, update)
        return 0
    print(f"lockstep: the update of {stack.name} failed: {update.reason}", file=sys.stderr)
    return EXIT_FAILED


def _verdicts(update: Update, started: float) -> dict[str, VerdictSummary]:
    """Return the verdicts: the stack's outputs, or the receipts of an update that failed."""
    if update.ok:
        outputs = update.events.outputs.get("verdicts", {})
        return {name: msgspec.convert(value, VerdictSummary) for name, value in outputs.items()}
    folder = receipt.home()
    written = sorted(path for path in folder.glob("*.json") if os.stat(path).st_mtime >= started)
    found = {path.stem: read_verdict(path) for path in written}
    return {name: verdict for name, verdict in found.items() if verdict}


def _show_next_steps(console: Console, stack: Stack, update: Update) -> None:
    """Print where the results are, how to look at the cluster, and how to remove the stack."""
    changed = update.events.changed
    console.print(f"\n{stack.name} is up: {changed} changes in {update.seconds:.1f} s")
    lines = [("receipts", str(receipt.home())), ("report", ".venv/bin/lockstep report")]
    kubeconfig = paths.cluster_dir(stack.cluster_name()) / "kubeconfig"
    if kubeconfig.exists():
        lines.append(("cluster", f"kubectl --kubeconfig {kubeconfig} get pods -A"))
    lines.append(("outputs", f". ./activate && pulumi stack output -s {stack.name}"))
    lines.append(("remove", f"make down STACK={stack.name}"))
    for name, value in lines:
        console.print(f"  {name:<9} {value}", highlight=False, soft_wrap=True)
