"""Progress of a long run on stderr: which step, how many there are, how long each takes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress as LiveLine
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

EVERY = 60
"""Seconds between two lines about programs that are being built, where there is no terminal."""
SURE = 0.03
"""The share of the work from which on the remaining time is told."""


class Progress:
    """Numbered steps: a live line on a terminal, plain lines elsewhere."""

    def __init__(self, total: int) -> None:
        self._console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self._total = total
        self._done = 0

    def note(self, text: str) -> None:
        """Print a line that is not a step."""
        self._console.print(f"lockstep: {text}")

    @contextmanager
    def step(self, name: str, doing: str, done: str, *, steps: int = 1) -> Iterator[None]:
        """Show a step while the block runs, then its duration; it counts as so many `steps`."""
        label = f"{self._number(self._done + 1)} {name} …" if steps else f"{name} …"
        began = time.monotonic()
        with self._live_line(f"{label} {doing}"):
            yield
        self._done += steps
        self._console.print(f"{label} {done} in {_duration(time.monotonic() - began)}")

    @contextmanager
    def together(self) -> Iterator["Together"]:
        """Show programs that are built at the same time, while the block runs."""
        with self._live_line("building from Go modules") as change:
            yield Together(self, change, time.monotonic())

    def finished(self, name: str, after: float) -> None:
        """Print that one of the programs is built; it is a step."""
        self._done += 1
        number = self._number(self._done)
        self._console.print(f"{number} {name} … built after {_duration(after)}")

    @contextmanager
    def _live_line(self, text: str) -> Iterator[Callable[[str], None]]:
        """Show a text, with the time that it is there; gives what changes the text."""
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        plain = not self._console.is_terminal
        with LiveLine(
            *columns, TimeElapsedColumn(), console=self._console, transient=True, disable=plain
        ) as line:
            task = line.add_task(text, total=None)
            if plain:
                self._console.print(text)
                yield self._console.print
            else:
                yield lambda changed: line.update(task, description=changed)

    def _number(self, step: int) -> str:
        return f"[{step}/{self._total}]"

    @property
    def is_live(self) -> bool:
        """Whether there is a line that can change."""
        return self._console.is_terminal


@dataclass
class Together:
    """Programs that are built at the same time."""

    progress: Progress
    change: Callable[[str], None]
    began: float
    told: float = 0

    def finished(self, name: str) -> None:
        """Print that one of the programs is built."""
        self.progress.finished(name, time.monotonic() - self.began)

    def so_far(self, share: float) -> None:
        """Show how much of the work is done, and how long the rest will take at the pace so far."""
        seconds = time.monotonic() - self.began
        if seconds - self.told < (1 if self.progress.is_live else EVERY):
            return
        self.told = seconds
        text = f"building from Go modules: {share:.0%} after {_duration(seconds)}"
        if share > SURE:
            text += f", about {_duration(seconds / share - seconds)} left"
        self.change(text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02}s"
