"""`make sabotage`: break deployments in a seeded sample of ways, and check every verdict."""

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
from tests.sabotage import document, plan
from tests.sabotage.result import Result
from tests.sabotage.runner import Runner, Updates, load
from tests.unit.conftest import PROJECT_DIR

QUICK_ROUNDS, QUICK_CLEAN, QUICK_CLUSTERS, QUICK_MINUTES = 10, 4, 2, 3.3

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="make sabotage",
        description="Sabotage real deployments in a seeded sample of ways and compare each "
        "verdict with what really happened. Exits with 1 after a false pass, or after a false "
        "alarm in a clean run; what they were is kept in out/sabotage/.",
        epilog='examples:\n  make sabotage ARGS="--seed 7 --minutes 10"\n'
        '  make sabotage ARGS="--only scenario=gang,moment=burst --rounds 5 --clean 0"',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--seed", type=int, help="repeat the plan of this seed (default: a new one, printed)")
    add(
        "--minutes",
        type=float,
        help="begin no round after so many minutes; the clean runs get their share",
    )
    add("--rounds", type=int, help="sabotaged rounds (default: 220)")
    add("--clean", type=int, help="clean runs on a loaded machine (default: 200)")
    add("--clusters", type=int, help="clusters side by side (default: 3)")
    add("--quick", action="store_true", help="a fixed sample for CI, at most four minutes")
    add("--only", default="", metavar="KEY=VALUE,…", help="keys: scenario, sabotage, moment")
    add("--json", type=Path, metavar="FILE", help="write every result to a file")
    add("--docs", action="store_true", help="write docs/soundness.md from the results")
    add("--list", action="store_true", help="print the plan and end")
    return _with_defaults(parser.parse_args())


def _with_defaults(known: argparse.Namespace) -> argparse.Namespace:
    quick = known.quick
    defaults = {
        "seed": plan.QUICK_SEED if quick else random.randrange(10**6),
        "rounds": QUICK_ROUNDS if quick else 220,
        "clean": QUICK_CLEAN if quick else 200,
        "clusters": QUICK_CLUSTERS if quick else 3,
        "minutes": QUICK_MINUTES if quick else None,
    }
    for name, value in defaults.items():
        if getattr(known, name) is None:
            setattr(known, name, value)
    return known


def main() -> int:
    """Run the campaign on state of its own; return the exit code."""
    known = arguments()
    sabotaged = plan.sabotaged(known.seed, known.rounds, known.only.split(","), known.quick)
    clean = plan.clean(known.seed, known.clean, known.quick, first=len(sabotaged))
    print(f"seed {known.seed}: {len(sabotaged)} sabotaged rounds, {len(clean)} clean runs")
    if known.list:
        print("\n".join(f"{one.number:4} {one.name}" for one in (*sabotaged, *clean)))
        return 0
    keep = PROJECT_DIR / "out" / "sabotage"
    folder = Path(tempfile.mkdtemp(prefix="lockstep-sabotage-"))
    os.environ["LOCKSTEP_STATE"] = str(folder / "state")
    for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"):
        os.environ.pop(name, None)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    runner = Runner(known.clusters, keep, lambda line: print(line, flush=True))
    started = time.monotonic()
    seconds = known.minutes * 60 if known.minutes else float("inf")
    share = len(sabotaged) / max(1, len(sabotaged) + len(clean))
    is_interrupted = False
    try:
        ensure_tools()
        updates = Updates([*sabotaged, *clean])
        runner.play(sabotaged, updates, started + seconds * share)
        with load():
            runner.play(clean, updates, started + seconds)
    except KeyboardInterrupt:
        print("interrupted; cleaning up", file=sys.stderr)
        is_interrupted = True
    finally:
        runner.remove()
        shutil.rmtree(folder, ignore_errors=True)
    return report(runner.results, known) or (INTERRUPTED if is_interrupted else 0)


def _repeating(known: argparse.Namespace) -> str:
    """The arguments that repeat the campaign."""
    sizes = f"--rounds {known.rounds} --clean {known.clean} --clusters {known.clusters}"
    return f"--seed {known.seed} {sizes}" + (f" --only {known.only}" if known.only else "")


def _interrupt(_number: int, _frame: object) -> None:
    """End as after Ctrl-C, also where the shell ignores it for a program in the background."""
    raise KeyboardInterrupt


def report(results: list[Result], known: argparse.Namespace) -> int:
    """Print the violations, write what was asked for, and return the exit code."""
    passes = [one for one in results if one.is_false_pass]
    alarms = [one for one in results if one.is_false_alarm]
    for what, found in (("FALSE PASS", passes), ("FALSE ALARM", alarms)):
        for one in found:
            why = "; ".join(one.contradictions) or one.why or one.reason
            print(f"{what} {one.round.seed} {one.round.name}: {why}")
    print(f"{len(results)} rounds: {len(passes)} false passes, {len(alarms)} false alarms")
    if known.json:
        known.json.write_text(json.dumps([asdict(one) for one in results], indent=1))
    if known.docs:
        path = PROJECT_DIR / "docs" / "soundness.md"
        path.write_text(document.render(results, _repeating(known)))
    return 1 if passes or alarms else 0


if __name__ == "__main__":
    sys.exit(main())
