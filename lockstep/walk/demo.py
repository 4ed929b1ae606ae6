"""The demo: walk through scenarios on one cluster, each by a config change and `pulumi up`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.walk import terminal as live
from lockstep.walk.stack import Stack

PATIENCE_AT_INTERRUPT = 20.0


@dataclass(frozen=True)
class Step:
    """One change of config, and what it must show."""

    name: str
    """Names the receipt, too."""
    scenario: str
    """The scenario whose verdict counts."""
    story: str
    """What happens, in a sentence."""
    expected: str
    """The verdict."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What changes in the stack's config."""
    stack: str = ""
    """A stack of stacks/ whose config the step takes, before its own changes."""


ARTICLE = (
    Step(
        "gang",
        "gang",
        "four pods and room for them: all start together",
        "placed",
        {"scenarios": ["gang"]},
    ),
    Step(
        "constrained",
        "constrained",
        "two of three workers are blocked: room for two pods of four, so none may start",
        "held",
        {"scenarios": ["gang", "constrained"], "taintedWorkers": 2},
    ),
    Step(
        "constrained-released",
        "constrained",
        "one worker is unblocked: the whole gang starts",
        "released",
        {"scenarios": ["gang", "constrained"], "taintedWorkers": 1},
    ),
    Step(
        "no-gang",
        "no-gang",
        "the same pods without gang scheduling: some start, and hold their room in vain",
        "partial",
        {"scenarios": ["no-gang"], "taintedWorkers": 2},
    ),
)


def _beyond(scenario: str, story: str, expected: str) -> Step:
    """A scenario with a stack of its own, whose numbers it takes."""
    return Step(scenario, scenario, story, expected, stack=scenario)


BEYOND = (
    _beyond("contention", "four gangs and room for one: they take turns, whole", "serialized"),
    _beyond(
        "contention-control",
        "the same four by the default scheduler: each gets a part, none can run",
        "deadlocked",
    ),
    _beyond("queue-cap", "three gangs, room for all, a queue that admits two", "capped"),
    _beyond(
        "preemption",
        "a gang of higher priority meets a full pool: no gang is cut",
        "preempted-whole",
    ),
    _beyond(
        "recovery",
        "leader, worker and node are lost in turn: the gang comes back whole",
        "recreated",
    ),
    _beyond("rolling-update", "the template changes where room is tight: whole groups", "rolled"),
    _beyond("scale", "two groups, six, one: PodGroups follow exactly", "scaled"),
    _beyond("leader-ready", "workers wait for their leader: it starts alone", "leader-first"),
    _beyond("missing-rbac", "LWS loses its right to make PodGroups, and gets it back", "refused"),
)
"""What the article leaves open."""


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    step: Step
    seconds: float
    verdict: Mapping[str, Any] | None
    """As in the receipt; None when the update failed before it could judge."""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict is not None and bool(self.verdict["ok"])


@dataclass
class Walk:
    """The walk over one stack, which is made for it and removed after it."""

    base: str
    """The stack of stacks/ whose config is the starting point."""
    console: Console
    pause: Callable[[Step], None] | None = None
    """Called before each step but the first."""
    name: str = "demo"
    """Names the stack that is made, together with the base."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """What is so in every step."""
    receipts: Path = field(default_factory=lambda: paths.project_dir() / "out" / "receipts")
    """Where the receipts go; those of an earlier walk are removed."""

    def __post_init__(self) -> None:
        name = self.name if self.base == "gang" else f"{self.name}-{self.base}"
        self.folder = paths.state_dir() / name
        self.stack = Stack(name, self.folder / f"Pulumi.{name}.yaml")
        self.log = self.folder / "pulumi.log"

    def run(self, steps: Sequence[Step]) -> list[Outcome]:
        """Take every step, whatever became of the one before."""
        self._prepare()
        outcomes = []
        for number, step in enumerate(steps, start=1):
            if self.pause and number > 1:
                self.pause(step)
            title = f"[bold]{number}/{len(steps)} {step.name}[/bold]"
            self.console.print(f"\n{title}  {step.story}", highlight=False)
            outcomes.append(self._take(step))
            live.show_outcome(self.console, outcomes[-1])
        return outcomes

    def remove(self) -> None:
        """Destroy the stack; a second Ctrl-C does not leave half of it behind."""
        with _deaf_to_interrupts(), self.console.status("cleaning up"):
            self.stack.down(log=self.log)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _prepare(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.receipts.mkdir(parents=True, exist_ok=True)
        for old in self.receipts.glob("*.json"):
            old.unlink()  # a report must not show yesterday's proof
        self.log.write_text("")
        self._configure({"scenarios": []})
        if self.stack.exists():
            self.console.print("removing what an earlier demo left", highlight=False)
            self.stack.down(log=self.log)
            self._configure({"scenarios": []})
        self.stack.select()

    def _configure(self, changes: Mapping[str, Any]) -> None:
        """Write the stack's config: the base's own, with the walk's and the step's changes."""
        now = self.stack.path
        document = yaml.safe_load(now.read_text()) if now.exists() else {}
        wanted = {**stack_config(self.base), **self.config, **changes}
        document["config"] = {f"lockstep:{key}": value for key, value in wanted.items()}
        now.write_text(yaml.safe_dump(document))

    def _take(self, step: Step) -> Outcome:
        started = time.monotonic()
        if step.stack or self.stack.config("clusterProvider") != "kwok":
            # Real workers are few: the scenario before must give them back first. And gangs that
            # still wait for a turn have a place in Volcano's queue, whichever workers they want.
            self._configure({**self._changes(step), "scenarios": self._kept(step)})
            self._update(None)
        self._configure(self._fitting(step))
        failure = self._update(step)
        paper = self.receipts / f"{step.name}.json"
        verdict = receipt.read(paper).verdict.to_mapping() if paper.exists() else None
        reason = "" if verdict else failure or "no verdict was reached"
        return Outcome(step, time.monotonic() - started, verdict, reason)

    def _fitting(self, step: Step) -> dict[str, Any]:
        """The step's config; real workers have room for one scenario at a time."""
        config = self._changes(step)
        if self.stack.config("clusterProvider") != "kwok":
            config["scenarios"] = [step.scenario]
        return config

    def _changes(self, step: Step) -> dict[str, Any]:
        taken = stack_config(step.stack) if step.stack else {}
        return {**taken, **step.config}

    def _kept(self, step: Step) -> list[str]:
        """What goes on into this step: the held gang, to be released."""
        return [step.scenario] if step.expected == "released" else []

    def _update(self, step: Step | None) -> str:
        """`pulumi up` under the live view; returns why it failed, or nothing."""
        environment = {**self.stack.environment, "LOCKSTEP_RECEIPTS": str(self.receipts)}
        pulumi = subprocess.Popen(
            self.stack.command("up", "--yes", "--skip-preview"),
            cwd=paths.project_dir(),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
        recording = (self.stack.cluster_name(), step.scenario) if step else None
        with _ended(pulumi), self.log.open("a") as log:
            lines = live.show(self.console, pulumi, recording)
            log.writelines(lines)
        return "" if pulumi.returncode == 0 else live.reason(lines)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Keep a second walk out: it would take the first one's stack away, and its receipts."""
    with (paths.state_dir() / "walk.lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockstepError(
                "a demo or a matrix is running in this checkout already; wait until it has ended"
            ) from None
        yield


def stack_config(name: str) -> dict[str, Any]:
    """The keys that a stack of stacks/ sets, without their namespace."""
    source = paths.project_dir() / "stacks" / f"Pulumi.{name}.yaml"
    if not source.exists():
        raise LockstepError(f"there is no stack {name}; see stacks/")
    config = yaml.safe_load(source.read_text())["config"]
    return {key.removeprefix("lockstep:"): value for key, value in config.items()}


@contextlib.contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Never leave the update running behind: ask it to stop, then make it."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_AT_INTERRUPT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.stdout:
            process.stdout.close()


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
