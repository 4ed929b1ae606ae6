"""The live view: what an update is doing, and what becomes of each pod while it does."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from lockstep.errors import LockstepError
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recording
from lockstep.recording.model import Observation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstep.walk.demo import Outcome

# A line of Pulumi's plain progress: " +  kubernetes:helm.sh/v3:Release lws-release creating (1s)".
PROGRESS = re.compile(r"^ *[+~-]+ +\S+ (?P<name>\S+) (?P<doing>creating|updating|deleting)\b")
PHASES = {
    "control-plane": "starting the control plane",
    "volcano-release": "installing Volcano",
    "lws-release": "installing LWS",
    "lws-operator-process": "starting LWS on its configuration",
    "recorder": "watching",
    "blocked-taints": "blocking workers",
    "judge": "judging",
}
MANY = 24
"""Pods up to which each is followed by name."""


def show(
    console: Console, pulumi: subprocess.Popen[str], where: tuple[str, str] | None
) -> list[str]:
    """Follow an update to its end; returns everything that it printed."""
    lines: list[str] = []
    over = threading.Event()
    with console.status("…") as status:
        follower = threading.Thread(target=_follow_pods, args=(console, where, over), daemon=True)
        follower.start()
        assert pulumi.stdout is not None  # noqa: S101 - it is a pipe
        for line in pulumi.stdout:
            lines.append(line)
            if phase := _phase(line):
                status.update(phase)
        pulumi.wait()
        over.set()
        follower.join()
    return lines


def _phase(line: str) -> str:
    match = PROGRESS.match(line)
    if not match:
        return ""
    for ending, phase in PHASES.items():
        if match["name"].endswith(ending):
            return phase
    return ""


def reason(lines: Sequence[str]) -> str:
    """The one line of a failed update that says why."""
    errors = [line.strip() for line in lines if re.search(r"\berror: ", line)]
    said = [line for line in errors if "update failed" not in line]
    return (said or errors or ["the update failed"])[0].split("error: ", 1)[-1]


def _follow_pods(console: Console, where: tuple[str, str] | None, over: threading.Event) -> None:
    if where is None:
        return
    path = recording.path_of(*where)
    before = _run_of(path)
    follower = None
    while follower is None and not over.wait(0.1):
        if (found := recorder_process.connect(path)) and found.recording.header.run != before:
            follower = found
    if follower is None:
        return
    told, view = 0, PodView()
    while not (follower.ended or over.is_set()):
        follower.wait(follower.now() + 0.2)
        fresh = follower.recording.observations[told:]
        told += len(fresh)
        for line in view.lines(fresh):
            console.print(line, highlight=False, soft_wrap=True)


def _run_of(path: Any) -> str:
    """The run whose recording lies there already: not the one to follow."""
    try:
        return recording.read(path).header.run
    except LockstepError:
        return ""


class PodView:
    """Turns observations into lines: a pod that was created, bound, started or deleted."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}
        self._names: set[str] = set()

    def lines(self, observations: Sequence[Observation]) -> Iterator[str]:
        """One line per change that a reader cares about."""
        for seen in observations:
            if seen.kind == "pod":
                yield from self._pod(seen)
            elif seen.kind == "event" and seen.facts.get("reason") == "Unschedulable":
                yield from self._event(seen)

    def _pod(self, seen: Observation) -> Iterator[str]:
        state = _state(seen)
        if self._states.get(seen.uid) == state:
            return
        self._states[seen.uid] = state
        self._names.add(seen.name)
        if len(self._names) <= MANY:
            yield f"  [dim]{seen.at:6.2f} s[/dim]  {seen.name:<28} {state}"

    def _event(self, seen: Observation) -> Iterator[str]:
        message = str(seen.facts.get("message", "")).split(".")[0].split(";")[0]
        # Volcano uses the same reason to say that a gang is no longer so.
        if "not ready" in message and self._states.get("event") != message:
            self._states["event"] = message
            yield f"  [dim]{seen.at:6.2f} s[/dim]  [yellow]unschedulable[/yellow]: {message}"


def _state(seen: Observation) -> str:
    if seen.change == "DELETED":
        return "[dim]gone[/dim]"
    node, phase = seen.facts.get("node"), seen.facts.get("phase")
    if not node:
        return "waiting"
    return (
        f"[green]{str(phase).lower()}[/green] on {node}"
        if phase == "Running"
        else f"bound to {node}"
    )


def show_outcome(console: Console, outcome: Outcome) -> None:
    """The verdict of a step, in a line."""
    observed = outcome.verdict["observed"] if outcome.verdict else "nothing"
    mark = (
        "[bold green]as expected[/bold green]"
        if outcome.ok
        else "[bold red]NOT expected[/bold red]"
    )
    detail = outcome.reason or (outcome.verdict or {}).get("reason") or ""
    line = f"  → {observed}, {mark} ({outcome.seconds:.1f} s)"
    console.print(line if outcome.ok else f"{line}: {detail}", highlight=False)


def narrow_table(title: str) -> Table:
    """A table that wastes no room: it should fit 80 columns."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )


def show_table(console: Console, outcomes: Sequence[Outcome]) -> None:
    """All verdicts at a glance."""
    table = narrow_table("Verdicts")
    for column in ("scenario", "expected", "observed", "bound", "bind skew", "time", ""):
        number = column in ("bound", "bind skew", "time")
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for outcome in outcomes:
        verdict: Any = outcome.verdict or {}
        skew = verdict.get("bindSkewSeconds")
        table.add_row(
            outcome.step.name,
            outcome.step.expected,
            verdict.get("observed", "nothing"),
            f"{verdict['bound']}/{verdict['size']}" if verdict else "-",
            "-" if skew is None else f"{skew:.3f} s",
            f"{outcome.seconds:.1f} s",
            "[green]ok[/green]" if outcome.ok else "[red]FAILED[/red]",
        )
    console.print()
    console.print(table)
