"""The walk of the demo and the matrix: steps on one cluster, each a config change and an update."""

import contextlib
import fcntl
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.walk import evidence, terminal
from lockstep.walk.evidence import Evidence
from lockstep.walk.outcome import Outcome, Stage, read_receipt
from lockstep.walk.stack import Stack, stack_config


@dataclass
class Walk:
    """Takes steps on one stack, which is created for the walk and removed after it."""

    base: str
    """The stack in stacks/ that says on which cluster to walk."""
    console: Console
    pause: Callable[[Stage], None] | None = None
    """Called before each step but the first."""
    name: str = "demo"
    """Names the stack of the walk, together with the base."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Config keys that are set in every step."""
    receipts: Path = field(default_factory=lambda: paths.out_dir() / "receipts")
    """The folder for the receipts; receipts of an earlier walk in it are deleted."""

    def __post_init__(self) -> None:
        name = self.name if self.base == "gang" else f"{self.name}-{self.base}"
        taken = paths.checkout_dir() / "stacks" / f"Pulumi.{name}.yaml"
        if taken.exists():
            raise LockstepError(f"the stack name {name} is taken by {taken}; rename that file")
        self._broken: set[str] = set()
        self.stack = Stack(name)
        self.stack.environment = {
            **self.stack.environment,
            "LOCKSTEP_RECEIPTS": str(self.receipts),
        }

    @property
    def failed(self) -> Path:
        """The folder with the recordings and logs of the steps that failed."""
        return self.receipts.parent / "failed"

    @property
    def evidence(self) -> Evidence:
        """What the walk leaves of the steps that failed, besides their receipts."""
        kept = [self.stack.log, self.failed]
        return Evidence(logs=[path for path in kept if path and path.exists()])

    def ensure_tools(self) -> None:
        """Fetch or build what the walk needs."""
        self._configure({})
        self.stack.ensure_tools()

    def run(self, stages: Sequence[Stage]) -> list[Outcome]:
        """Take every step, also after a step that failed."""
        self._prepare()
        outcomes = []
        for number, stage in enumerate(stages, start=1):
            if self.pause and number > 1:
                self.pause(stage)
            title = f"[bold]{number}/{len(stages)} {stage.step.name}[/bold]"
            self.console.print(f"\n{title}  {stage.step.story}", highlight=False)
            outcomes.append(self._take(stage, is_first=number == 1))
            if not outcomes[-1].ok:
                self._broken.add(stage.scenario.name)
            terminal.show_outcome(self.console, outcomes[-1])
        return outcomes

    def remove(self) -> None:
        """Destroy the stack; signals do not interrupt this."""
        with ignore_signals(), self.console.status("cleaning up"):
            self.stack.down()
        self.stack.forget()

    def _prepare(self) -> None:
        self.receipts.mkdir(parents=True, exist_ok=True)
        for old in self.receipts.glob("*.json"):
            receipt.keep_failed(old)
            old.unlink()  # the report must not show the receipts of an earlier walk
        shutil.rmtree(self.failed, ignore_errors=True)
        self.stack.start_log()
        self._configure({"scenarios": []})
        self.stack.down()  # what an earlier, killed walk left

    def _configure(self, changes: Mapping[str, Any]) -> None:
        """Write the stack's config: the base's own, with the changes and the walk's config."""
        self.stack.write_config(self.base, {**changes, **self.config})

    def _take(self, stage: Stage, *, is_first: bool) -> Outcome:
        started, begun = time.monotonic(), time.time()
        try:
            failure = "" if is_first else self._make_room(stage)
            if not failure:
                self._configure(self._changes(stage))
                failure = self._update(stage)
        except BaseException:
            self._keep_evidence(stage, begun)
            raise
        found = read_receipt(self.receipts / f"{stage.step.name}.json")
        verdict = found.verdict if found else None
        reason = failure or ("" if verdict else "no verdict was reached")
        outcome = Outcome(stage.step, time.monotonic() - started, verdict, reason)
        if outcome.ok:
            return outcome
        return replace(outcome, evidence=self._keep_evidence(stage, begun))

    def _keep_evidence(self, stage: Stage, begun: float) -> Evidence:
        """Copy what is left of a step that failed; the next step, or the end, would remove it."""
        folder = self.failed / stage.step.name
        receipt_path = self.receipts / f"{stage.step.name}.json"
        cluster = self.stack.cluster_name()
        return Evidence(
            receipts=[receipt_path] if receipt_path.exists() else [],
            recordings=evidence.copy(cluster, stage.scenario.name, begun, folder),
            logs=[path for path in (self.stack.log, folder) if path and path.exists()],
        )

    def _make_room(self, stage: Stage) -> str:
        """Remove the scenario before, where this one would not fit beside it.

        Real workers are few. And gangs that still wait have a place in Volcano's queue, whichever
        workers they want. Return why the update failed, or nothing.
        """
        if stage.step.continues or (self._is_simulated and stage.scenario.in_article):
            return ""
        self._configure({**self._changes(stage), "scenarios": []})
        return self._update(None)

    def _changes(self, stage: Stage) -> dict[str, Any]:
        """The step's config; real workers have room for only one scenario at a time.

        A scenario that failed is left out of the steps of others: its update would fail theirs.
        """
        changes = {**stack_config(stage.scenario.name), **stage.step.config}
        own = stage.scenario.name
        others = [one for one in changes["scenarios"] if one not in {own, *self._broken}]
        changes["scenarios"] = [*(others if self._is_simulated else ()), own]
        return changes

    @property
    def _is_simulated(self) -> bool:
        """Whether the cluster's workers are simulated, so that there are as many as needed."""
        return bool(self.stack.config("clusterProvider") == "kwok")

    def _update(self, stage: Stage | None) -> str:
        """Run `pulumi up` under the live view; return why it failed, or nothing."""
        recording = (self.stack.cluster_name(), stage.scenario.name) if stage else None
        with terminal.live_view(self.console, recording) as on_progress:
            return self.stack.up(on_progress).reason


@contextlib.contextmanager
def exclusive_lock() -> Iterator[None]:
    """Refuse a second walk in this checkout: it would remove the first one's stack and receipts."""
    with (paths.state_dir() / "walk.lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockstepError(
                "a demo or a matrix is already running in this checkout; wait until it has ended"
            ) from None
        yield


@contextlib.contextmanager
def ignore_signals() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM in this process; programs that it starts do not inherit this."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
