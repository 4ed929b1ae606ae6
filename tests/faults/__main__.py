"""`make faults`: kill processes and updates at random moments, and check that all comes back."""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from lockstep.walk.stack import ensure_tools
from tests.faults import document, plan
from tests.faults.runner import Runner
from tests.unit.conftest import PROJECT_DIR

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="make faults",
        description="Kill processes and updates of real deployments in a seeded sample of ways. "
        "After each kill, no gang may be partly bound, the process must be back, nothing may be "
        "left over, and the next update must work. Exits with 1 after a violation; its logs are "
        "kept in out/faults/.",
        epilog='examples:\n  make faults ARGS="--seed 7 --minutes 10"\n'
        '  make faults ARGS="--only fault=etcd,moment=churn --rounds 3"',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seed", type=int, help="repeat the plan of this seed (default: a new one, printed)")
    add("--minutes", type=float, help="begin no cluster after so many minutes")
    add("--rounds", type=int, help="number of kills (default: 45)")
    add("--clusters", type=int, default=2, help="clusters side by side (default: 2)")
    add("--quick", action="store_true", help="a fixed sample for CI, about two minutes")
    add("--only", default="", metavar="KEY=VALUE,…", help="keys: fault, moment")
    add("--json", type=Path, metavar="FILE", help="write every result to a file")
    add("--docs", action="store_true", help="write the table of the README from the results")
    add("--list", action="store_true", help="print the plan and end")
    known = parser.parse_args(words)
    if known.seed is None:
        known.seed = plan.QUICK_SEED if known.quick else random.randrange(10**6)
    known.rounds = known.rounds or (plan.QUICK_ROUNDS if known.quick else 45)
    return known


def main() -> int:
    """Run the campaign on state of its own; return the exit code."""
    known = arguments()
    chapters = plan.chapters(known.seed, known.rounds, known.only.split(","), known.quick)
    print(f"seed {known.seed}: {known.rounds} rounds on {len(chapters)} clusters", flush=True)
    if known.list:
        print("\n".join(f"{one.number:4} {one.name}" for rounds in chapters for one in rounds))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="lockstep-faults-"))
    os.environ["LOCKSTEP_STATE"] = str(folder / "state")
    for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"):
        os.environ.pop(name, None)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    runner = Runner(known.clusters, folder, lambda line: print(line, flush=True))
    seconds = known.minutes * 60 if known.minutes else float("inf")
    is_interrupted = False
    try:
        ensure_tools()
        runner.play(chapters, time.monotonic() + seconds)
    except KeyboardInterrupt:
        print("interrupted; cleaning up", file=sys.stderr)
        is_interrupted = True
    finally:
        runner.remove([f"faults-{number}" for number in range(len(chapters))])
        shutil.rmtree(folder, ignore_errors=True)
    return _report(runner, known) or (INTERRUPTED if is_interrupted else 0)


def _interrupt(_number: int, _frame: object) -> None:
    """End as after Ctrl-C, also where the shell ignores it for a program in the background."""
    raise KeyboardInterrupt


def _report(runner: Runner, known: argparse.Namespace) -> int:
    """Print the table, write what was asked for, and return the exit code."""
    results = runner.results
    print("\n".join(document.table(results)))
    wrong = [one for one in results if one.violations]
    missed = [one for one in results if one.missed]
    print(f"{len(results)} rounds, {len(missed)} missed, {len(wrong)} with violations")
    if known.json:
        known.json.write_text(json.dumps([asdict(one) for one in results], indent=1))
    if known.docs:
        sizes = f"--seed {known.seed} --rounds {known.rounds} --clusters {known.clusters}"
        only = f" --only {known.only}" if known.only else ""
        command = f'make faults ARGS="{sizes}{only}"'
        document.write(PROJECT_DIR / "README.md", results, command)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
