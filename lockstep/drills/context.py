"""Where a drill stands: the cluster to act on, and the recording that tells what came of it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lightkube import Client
from lightkube.models.core_v1 import ObjectReference
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Event

from lockstep.errors import LockstepError
from lockstep.judge import Expectation, notes
from lockstep.judge.history import History
from lockstep.kube import taints
from lockstep.recording.client import Live


class InVain(LockstepError):  # noqa: N818  # it is no error of ours
    """What a drill waited for did not come; what came instead is for the judge."""


@dataclass(frozen=True)
class Ground:
    """What a drill gets; it waits on the recording, so that it never polls the cluster."""

    client: Client
    live: Live
    expectation: Expectation
    pool: str
    patience: float
    folder: Path
    """Everything that belongs to the cluster on this machine; it has the cluster's name."""

    @property
    def namespace(self) -> str:
        """The scenario's namespace."""
        return self.expectation.namespace

    def history(self) -> History:
        """What has been recorded so far."""
        return History.of(self.live.recording, self.namespace)

    def workers(self) -> list[str]:
        """The pool's nodes, by name; they are listed before anything else is recorded."""
        known = self.until("the pool's workers", lambda history: bool(history.living("node")))
        return sorted(node.name for node in known.living("node"))

    def blocked_workers(self) -> list[str]:
        """Those of the pool's nodes that are blocked now, by name."""
        self.workers()
        return sorted(
            node.name
            for node in self.history().living("node")
            if any(taint["key"] == taints.BLOCKED.key for taint in node.last.facts["taints"])
        )

    def until(self, what: str, reached: Callable[[History], bool]) -> History:
        """Wait until the recording shows something; fail, with what was missed, at the deadline."""
        deadline = self.live.now() + self.patience
        while True:
            history = self.history()
            if reached(history):
                return history
            if self.live.ended:
                raise LockstepError("the recorder ended before the drill did; run up again")
            if self.live.now() >= deadline:
                raise InVain(f"the drill waited {self.patience:.0f} s in vain for: {what}")
            self.live.wait(deadline)

    def steadily(self, what: str, seconds: float, reached: Callable[[History], bool]) -> History:
        """Wait until the recording shows something that then lasts for some seconds."""
        while True:
            self.until(what, reached)
            history, lasts = self._lasts(seconds, reached)
            if lasts:
                return history

    def _lasts(self, seconds: float, holds: Callable[[History], bool]) -> tuple[History, bool]:
        until = self.live.now() + seconds
        while True:
            history = self.history()
            if not holds(history) or self.live.now() >= until or self.live.ended:
                return history, holds(history)
            self.live.wait(until)

    def note(self, message: str) -> float:
        """Say in the recording what the drill does next: an event in the scenario's namespace.

        It returns when the note is recorded, and at what time: whatever follows came later.
        """
        before = len(notes.of(self.history()))
        self._write(message)
        known = self.until("its own note", lambda history: len(notes.of(history)) > before)
        return notes.of(known)[-1].at

    def _write(self, message: str) -> None:
        workload = self.expectation.workload
        now = datetime.now(UTC)
        self.client.create(
            Event(
                metadata=ObjectMeta(
                    name=f"lockstep-drill-{uuid.uuid4().hex[:12]}", namespace=self.namespace
                ),
                involvedObject=ObjectReference(
                    kind=workload.kind, name=workload.name, namespace=self.namespace
                ),
                reason=notes.REASON,
                message=message,
                type="Normal",
                action="Drill",
                reportingComponent="lockstep",
                reportingInstance="drill",
                eventTime=now,
                firstTimestamp=now,
                lastTimestamp=now,
            )
        )

    def rest(self, seconds: float) -> None:
        """Let some scheduling cycles pass, and take in what is recorded meanwhile."""
        until = self.live.now() + seconds
        while (now := self.live.now()) < until and not self.live.ended:
            self.live.wait(until)
            if self.live.now() == now:
                time.sleep(0.01)
