"""docs/soundness.md: what is claimed of a verdict, how that was tested, and the result."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

import psutil

from lockstep import versions
from tests.sabotage import oracle
from tests.sabotage.oracle import Must
from tests.sabotage.result import Result

_HEAD = """\
# Can the verdict be fooled?

This page is written by `make sabotage ARGS="--docs"`.

**The claim.** `ok` is said only of what was seen, from the first pod's creation to the last bind.
A deployment whose gangs were not held together, or whose recorder could not see it, does not get
`ok`.

**The test.** The real API server, Volcano, LeaderWorkerSet, recorder and judge run on embedded
clusters, in the order and with the inputs of `pulumi up`. A seeded sample of sabotages strikes
them: before the update, between two updates, when the first pod is created, when the first is
bound (in a gang that is held: when it is first refused), or after the last bind and before the
judge (with a drill: at a random moment of it). A second observer, with code of its own and a
connection of its own, notes what really happened.

- `fail` must be said where the proof is gone: `ok` is a false pass.
- `either` may be said: `ok` is a false pass if the observer saw a gang partly bound for longer
  than a burst, a bind without the right PodGroup, another scheduler, or another end than the
  verdict says.
- `ok` may be said, as the sabotage has no effect there. The observer is asked all the same.

In clean runs nothing is sabotaged, but every core of the machine is kept busy: anything but `ok`
is a false alarm. The wall clock is moved inside the recorder's process only, through Python's
`time` and `datetime` modules, as the other processes need the right time for their certificates.
"""


def render(results: Sequence[Result], command: str) -> str:
    """Return the page."""
    sabotaged = [one for one in results if one.round.sabotage]
    clean = [one for one in results if not one.round.sabotage]
    struck = [one for one in sabotaged if not one.missed]
    lines = [
        _HEAD,
        "## Result\n",
        f'`make sabotage ARGS="{command}"` on {datetime.now(UTC):%Y-%m-%d}, with Kubernetes '
        f"{versions.KUBERNETES}, Volcano {versions.VOLCANO_DEFAULT}, LeaderWorkerSet "
        f"{versions.LWS_DEFAULT}, on {_machine()}:\n",
        *_table(
            ("", "rounds", "wrong verdicts"),
            [
                ("sabotaged", f"{len(struck)}", f"{_count(sabotaged, _passes)} false passes"),
                ("clean", f"{len(clean)}", f"{_count(clean, _alarms)} false alarms"),
            ],
        ),
        "Not counted: rounds in which the verdict came before the sabotage, or in which there was "
        f"nothing to strike ({len(sabotaged) - len(struck)}). Careful, and not counted as wrong: "
        "rounds in which a sabotage without effect was not answered with `ok` "
        f"({_count(struck, _needless)}).\n",
        "## By sabotage\n",
        *_table(
            ("sabotage", "when", "must be said", "was said", "false passes"),
            [_row(name, struck) for name in oracle.sabotages()],
        ),
        "## By scenario\n",
        *_table(
            ("scenario", "sabotaged", "when", "false passes", "clean", "false alarms"),
            [_scenario_row(case, struck, clean) for case in oracle.POSSIBLE],
        ),
        "## Why an entry must be said\n",
        *_table(("sabotage", "when", "must be said", "because"), _reasons()),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _row(name: str, struck: Sequence[Result]) -> tuple[str, ...]:
    own = [one for one in struck if one.round.sabotage == name]
    return (
        name,
        _counts(one.round.moment for one in own),
        _counts(f"`{one.must}`" for one in own),
        _counts(f"`{one.said}`" for one in own),
        str(_count(own, _passes)),
    )


def _scenario_row(case: str, struck: Sequence[Result], clean: Sequence[Result]) -> tuple[str, ...]:
    own, calm = ([one for one in some if one.round.case == case] for some in (struck, clean))
    when = _counts(one.round.moment for one in own)
    passes, alarms = _count(own, _passes), _count(calm, _alarms)
    return case, str(len(own)), when, str(passes), str(len(calm)), str(alarms)


def _reasons() -> list[tuple[str, ...]]:
    return [
        (one.sabotages.replace("|", ", "), ", ".join(one.moments.split()), f"`{one.must}`", one.why)
        for one in oracle.TABLE
    ]


def _passes(one: Result) -> bool:
    return one.is_false_pass


def _alarms(one: Result) -> bool:
    return one.is_false_alarm


def _needless(one: Result) -> bool:
    return one.must == Must.OK and one.said != "ok"


def _count(results: Iterable[Result], what: Callable[[Result], bool]) -> int:
    return sum(map(what, results))


def _counts(values: Iterable[str]) -> str:
    counts = Counter(values)
    return ", ".join(f"{value} {count}" for value, count in counts.most_common()) or "none"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + [""]


def _machine() -> str:
    gigabytes = round(psutil.virtual_memory().total / 2**30)
    return f"{os.cpu_count()} cores and {gigabytes} GiB of memory"
