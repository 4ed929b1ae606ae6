"""`make mutation`: break the judge in small ways, one after the other, and count what tests notice.

The tools of PyPI do not fit: mutmut leaves out every decorated function, which here are the rules
of drills and all properties; cosmic-ray starts pytest again for each mutant; and neither leaves out
the filter of a comprehension, which is how the judge selects.
"""

import argparse
import re
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation import runner
from tests.mutation.mutants import mutants_of

JUDGE = Path("lockstep/judge")
TESTS = "tests/unit/lockstep/judge"
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
SURVIVORS = Path("out/mutation.txt")
OUTCOMES = ("killed", "timeout", "survived", "untested", "equivalent", "not run")


def main() -> None:
    """Run the mutants of some modules, print the score and write the survivors."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", help="such as figures; default: the whole judge")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=90, help="when to stop")
    parser.add_argument("--again", action="store_true", help=f"only those in {SURVIVORS}")
    options = parser.parse_args()
    runner.collect(TESTS, lambda session: _run(session, options))


def _run(session: pytest.Session, options: argparse.Namespace) -> None:
    deadline = time.monotonic() + 60 * options.minutes
    files = sorted(JUDGE.rglob("*.py"))
    tests = runner.Tests(session, files)
    equivalent, earlier = _equivalent(), _survivors() if options.again else None
    total: Counter[str] = Counter()
    left: list[str] = []
    for file in files:
        if options.modules and file.stem not in options.modules:
            continue
        mutants = [one for one in mutants_of(file) if earlier is None or one.key in earlier]
        counts = Counter({"not run": len(mutants)})
        surviving: set[str] = set()
        for mutant, result in tests.run(mutants, options.jobs, deadline):
            outcome = result
            if result in ("survived", "untested"):
                surviving.add(mutant.key)
                if mutant.key in equivalent:
                    outcome = "equivalent"
                else:
                    left.append(f"{result} {mutant.text}\n")
            counts.update({outcome: 1, "not run": -1})
        total += counts
        print(f"{_line(counts)}  {file}", flush=True)
        stale = {key for key in equivalent - surviving if key.startswith(f"{file} ")}
        for key in sorted(stale if earlier is None else ()):
            print(f"{EQUIVALENT.name} has a mutant that does not survive: {key}")
        SURVIVORS.parent.mkdir(exist_ok=True)
        SURVIVORS.write_text("".join(left))
    print(f"{_line(total)}  in all; {SURVIVORS} lists the survivors")


def _equivalent() -> set[str]:
    """The keys of the mutants that no test can kill; the file gives the reasons as comments."""
    lines = EQUIVALENT.read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def _survivors() -> set[str]:
    """The keys of the mutants that survived the last run."""
    lines = SURVIVORS.read_text().splitlines()
    return {re.sub(r"^\w+ (\S+):\d+ ", r"\1 ", line) for line in lines}


def _line(counts: Counter[str]) -> str:
    return "  ".join(f"{counts[name]:4d} {name}" for name in OUTCOMES)


if __name__ == "__main__":
    main()
