"""The table of a campaign, and its place in the README."""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil

from lockstep import versions
from tests.faults.plan import FAULTS, MOMENTS
from tests.faults.result import Result

BEGIN, END = "<!-- faults -->", "<!-- /faults -->"


def table(results: Sequence[Result]) -> list[str]:
    """A row per fault: how often it struck at each moment, and what became of it."""
    struck = [one for one in results if not one.missed]
    head = ("killed", *MOMENTS, "longest recovery", "violations")
    rows = [
        _row(fault, [one for one in struck if one.round.fault == fault])
        for fault in FAULTS
        if any(one.round.fault == fault for one in struck)
    ]
    lines = [head, ["---"] * len(head), *rows, _row("all", struck)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def section(results: Sequence[Result], command: str) -> str:
    """What the README says of a campaign."""
    struck = [one for one in results if not one.missed]
    recovered = [one for one in struck if one.recovery is not None]
    lost = sum(one.lost_pod_groups for one in struck)
    longest = max((one.longest_part for one in struck), default=0.0)
    memory = round(psutil.virtual_memory().total / 2**30)
    helped = (
        f"; {lost} groups had lost their PodGroup (lws#1054) and were recreated" if lost else ""
    )
    about = (
        f"`{command}` on {datetime.now(UTC):%Y-%m-%d}: {len(struck)} kills, {len(recovered)} of "
        "them of a process that must come back by itself. No gang was partly bound for longer than "
        f"{longest:.1f} s while all that binds pods was running{helped}. Kubernetes "
        f"{versions.KUBERNETES}, Volcano {versions.VOLCANO_DEFAULT}, LeaderWorkerSet "
        f"{versions.LWS_DEFAULT}, {os.cpu_count()} cores, {memory} GiB of memory."
    )
    return "\n".join([BEGIN, about, "", *table(results), END])


def write(path: Path, results: Sequence[Result], command: str) -> None:
    """Replace the text between the markers of a file."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(before + section(results, command) + after)


def _row(name: str, own: Sequence[Result]) -> list[str]:
    seconds = [one.recovery for one in own if one.recovery is not None]
    return [
        name,
        *(_count(own, lambda one, at=moment: one.round.moment == at) for moment in MOMENTS),  # type: ignore[misc]
        f"{max(seconds):.1f} s" if seconds else "-",
        str(sum(bool(one.violations) for one in own)),
    ]


def _count(results: Iterable[Result], what: Callable[[Result], bool]) -> str:
    return str(sum(map(what, results)) or "")
