"""The terminal: the live view of an update and its pods, and the verdicts at the end."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from lockstep.errors import LockstepError
from lockstep.recording import client, model
from lockstep.recording.model import Observation
from lockstep.walk.events import EventLog
from lockstep.walk.outcome import Outcome, VerdictSummary

PHASES = {
    "control-plane": "starting the control plane",
    "volcano-release": "installing Volcano",
    "lws-release": "installing LWS",
    "lws-operator-process": "starting LWS on its configuration",
    "recorder": "starting the recorder",
    "blocked-taints": "changing the taints of workers",
    "judge": "judging",
}
MANY = 24
"""The most pods that are shown by name."""


def make_console(*, stderr: bool) -> Console:
    """Return the console of a command; it breaks no line, so that a pipe gets whole lines."""
    return Console(stderr=stderr, soft_wrap=True)


@contextlib.contextmanager
def live_view(
    console: Console, recording: tuple[str, str] | None = None
) -> Iterator[Callable[[EventLog], None]]:
    """Show an update's progress, and the pods of a cluster's scenario, while the block runs.

    The value is the function to call with the update's events.
    """
    over = threading.Event()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        view = UpdateView(console, progress)
        follower = threading.Thread(target=_follow_pods, args=(console, recording, over))
        follower.start()
        try:
            yield view.show
        finally:
            over.set()
            follower.join()


class UpdateView:
    """Shows what an update is doing: on a terminal in one changing line, elsewhere line by line."""

    def __init__(self, console: Console, progress: Progress) -> None:
        self._console = console
        self._progress = progress
        self._task = progress.add_task("starting Pulumi")
        self._started = time.monotonic()
        self._phase = ""

    def show(self, events: EventLog) -> None:
        """Show the phase that an update is in and how many resources are done."""
        phase = _phase(events) or self._phase or "comparing with the current state"
        self._progress.update(self._task, description=f"{phase} ({events.finished} resources done)")
        if phase != self._phase and not self._console.is_terminal:
            seconds = time.monotonic() - self._started
            self._console.print(f"  … {phase} ({seconds:.1f} s)", highlight=False)
        self._phase = phase


def _phase(events: EventLog) -> str:
    """What the current operation means to a reader; empty for details."""
    if events.operation == "delete":
        return "removing resources"
    for ending, phase in PHASES.items():
        if events.resource.endswith(ending):
            return phase
    return ""


def _follow_pods(
    console: Console, recording: tuple[str, str] | None, over: threading.Event
) -> None:
    """Print what happens to the pods of a scenario, from its next recording until `over`."""
    if recording is None:
        return
    path = model.path_of(*recording)
    before = _run_of(path)
    follower = None
    while follower is None and not over.wait(0.1):
        found = client.connect(path)
        if found and found.recording.header.run != before:
            follower = found
        elif found:
            found.close()
    if follower is None:
        return
    shown, view = 0, PodView()
    try:
        while not (follower.ended or over.is_set()):
            follower.wait(follower.now() + 0.2)
            fresh = follower.recording.observations[shown:]
            shown += len(fresh)
            for line in view.lines(fresh):
                console.print(line, highlight=False)
    finally:
        follower.close()


def _run_of(path: Path) -> str:
    """The run of an earlier recording, which is not followed."""
    try:
        with path.open("rb") as file:
            return model.read_header(file).run
    except (LockstepError, FileNotFoundError):
        return ""


class PodView:
    """Turns observations of pods into lines: created, bound, running, deleted."""

    def __init__(self) -> None:
        self._states: dict[str, str] = {}
        self._names: set[str] = set()

    def lines(self, observations: Sequence[Observation]) -> Iterator[str]:
        """Return a line for each change that a reader cares about."""
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
        # Volcano uses the same reason for the event that ends this state.
        if "not ready" in message and self._states.get("event") != message:
            self._states["event"] = message
            yield f"  [dim]{seen.at:6.2f} s[/dim]  [yellow]unschedulable[/yellow]: {message}"


def _state(seen: Observation) -> str:
    if seen.change == "DELETED":
        return "[dim]deleted[/dim]"
    node, phase = seen.facts.get("node"), seen.facts.get("phase")
    if not node:
        return "waiting"
    return f"[green]running[/green] on {node}" if phase == "Running" else f"bound to {node}"


def show_outcome(console: Console, outcome: Outcome) -> None:
    """Print the verdict of a step in a line."""
    mark = "[bold green]as expected[/]" if outcome.ok else "[bold red]NOT expected[/]"
    line = f"  → {outcome.observed}, {mark} ({outcome.seconds:.1f} s)"
    detail = f": {escape(outcome.explanation)}" if outcome.explanation else ""
    console.print(f"{line}{detail}", highlight=False)


def show_verdict(console: Console, name: str, verdict: VerdictSummary) -> None:
    """Print the verdict of a scenario in a line."""
    skew = verdict.bind_skew_seconds
    words = [
        f"[bold]{name}[/bold]: {verdict.observed}",
        f"{verdict.bound} of {verdict.size} pods bound",
        *([] if skew is None else [f"bind skew {skew:.3f} s"]),
        "[green]ok[/green]" if verdict.ok else "[red]FAILED[/red]",
    ]
    console.print(", ".join(words), highlight=False)


def aligned(rows: Iterable[tuple[str, str]]) -> str:
    """Return rows of a label and a value as indented lines; a repeated label is shown once."""
    lines, before = [], ""
    for label, value in rows:
        lines.append(f"  {'' if label == before else label:<10} {value}")
        before = label
    return "\n".join(lines)


def narrow_table(title: str) -> Table:
    """Return an empty table that fits 80 columns."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )


def show_table(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print the outcomes of a walk as a table."""
    table = narrow_table("Verdicts")
    for column in ("scenario", "expected", "observed", "bound", "bind skew", "time", ""):
        number = column in ("bound", "bind skew", "time")
        table.add_column(column, justify="right" if number else "left", overflow="fold")
    for outcome in outcomes:
        verdict = outcome.verdict
        skew = verdict.bind_skew_seconds if verdict else None
        table.add_row(
            outcome.step.name,
            outcome.step.expected,
            outcome.observed,
            f"{verdict.bound}/{verdict.size}" if verdict else "-",
            "-" if skew is None else f"{skew:.3f} s",
            f"{outcome.seconds:.1f} s",
            "[green]ok[/green]" if outcome.ok else "[red]FAILED[/red]",
        )
    console.print()
    console.print(table, soft_wrap=False)
