"""Progress of a long run on stderr: which step, how many there are, how long each takes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as LiveLine
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn


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
        label = f"[{self._done + 1}/{self._total}] {name} …"
        began = time.monotonic()
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        plain = not self._console.is_terminal
        with LiveLine(
            *columns, TimeElapsedColumn(), console=self._console, transient=True, disable=plain
        ) as line:
            line.add_task(f"{label} {doing}", total=None)
            if plain:
                self._console.print(f"{label} {doing}")
            yield
        self._done += steps
        minutes, seconds = divmod(round(time.monotonic() - began), 60)
        self._console.print(f"{label} {done} in {minutes}m{seconds:02}s")
