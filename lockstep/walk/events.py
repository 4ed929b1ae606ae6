"""What the engine's events say about an update: its progress, its errors and its outputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pulumi.automation import EngineEvent

UNCHANGED = ("same", "read")
STACK_TYPE = "pulumi:pulumi:Stack"
GENERIC_ERRORS = ("update failed", "destroy failed", "preview failed")
"""Errors of the engine that only say that there was another error."""


@dataclass
class EventLog:
    """Collects an update's events; `on_progress` is called after each event that shows progress."""

    on_progress: Callable[[EventLog], None] = lambda _: None
    errors: list[str] = field(default_factory=list)
    """The reason of each error, in a line."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """The stack's outputs, without the values of secrets."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """The number of resources per operation, such as create; known at the end."""
    operation: str = ""
    """The operation that began last, such as create; empty while nothing has changed."""
    resource: str = ""
    """The name of the resource of that operation."""
    finished: int = 0
    """How many resources are done."""

    _ended: threading.Event = field(default_factory=threading.Event)

    def __call__(self, event: EngineEvent) -> None:
        """Take in one event."""
        if event.diagnostic_event and event.diagnostic_event.severity == "error":
            self.errors.append(reason_of(event.diagnostic_event.message))
        elif event.cancel_event:
            self._ended.set()
        elif event.summary_event:
            changes = event.summary_event.resource_changes
            self.changes = {_operation(name): count for name, count in changes.items()}
        elif event.resource_pre_event:
            self._begin(event.resource_pre_event.metadata)
        elif event.res_outputs_event:
            self._finish(event.res_outputs_event.metadata)

    def _begin(self, metadata: Any) -> None:
        operation = _operation(metadata.op)
        if operation not in UNCHANGED:
            self.operation, self.resource = operation, metadata.urn.rsplit("::", 1)[-1]
        self.on_progress(self)

    def _finish(self, metadata: Any) -> None:
        self.finished += 1
        if metadata.type == STACK_TYPE and metadata.new:
            self.outputs = metadata.new.outputs or {}
        self.on_progress(self)

    def wait_for_end(self, seconds: float = 2.0) -> None:
        """Wait for the engine's last event: events may arrive after Pulumi has ended."""
        self._ended.wait(seconds)

    @property
    def changed(self) -> int:
        """How many resources were changed."""
        return sum(count for name, count in self.changes.items() if name not in UNCHANGED)

    @property
    def reason(self) -> str:
        """Why the update failed: the first error that says more than that it did."""
        specific = [error for error in self.errors if error not in GENERIC_ERRORS]
        return (specific or self.errors or [""])[0]


def reason_of(message: str) -> str:
    """Return the line of an error message that says what is wrong.

    The message of a failed command has all that the command printed; the last line is the reason.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return ""
    if lines[0].startswith("exit status"):
        return lines[-1].removeprefix("lockstep: ")
    return " ".join(lines)


def _operation(name: Any) -> str:
    """The name of an operation; the Automation API has it as text or as an enumeration."""
    return str(getattr(name, "value", name))
