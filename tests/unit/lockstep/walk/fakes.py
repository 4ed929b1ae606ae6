"""A pretended Pulumi backend with stacks, behind the names that `lockstep.walk.automation` has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pulumi.automation import CommandError, CommandResult, EngineEvent
from pulumi.automation.errors import create_command_error

CONFIG = "# why\nconfig:\n  lockstep:scenarios: [gang]\n"
"""The stack file of the pretended checkout."""


def failure(stderr: str) -> CommandError:
    """The error that the Automation API raises when the CLI prints this."""
    return create_command_error(CommandResult("", stderr, 1))


def error_event(message: str) -> EngineEvent:
    diagnostic = {"message": message, "color": "never", "severity": "error"}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, "diagnosticEvent": diagnostic})


def step_event(kind: str, operation: str, name: str, **new: Any) -> EngineEvent:
    """An event of a resource: its operation begins (resourcePreEvent) or ends (resOutputsEvent)."""
    urn = f"urn:pulumi:gang::lockstep::{new.get('type', 'a:b:C')}::{name}"
    state = {"type": "a:b:C", "urn": urn, "id": "", "parent": "", "provider": "", **new}
    state = {"inputs": {}, "outputs": {}, **state}
    metadata = {
        "op": operation,
        "urn": urn,
        "type": state["type"],
        "old": None,
        "new": state,
        "keys": None,
        "diffs": None,
        "detailedDiff": None,
        "logical": None,
        "provider": "",
    }
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, kind: {"metadata": metadata}})


def summary_event(**changes: int) -> EngineEvent:
    summary = {"maybeCorrupt": False, "durationSeconds": 1, "resourceChanges": changes}
    summary["policyPacks"] = {}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, "summaryEvent": summary})


END = EngineEvent.from_json({"sequence": 1, "timestamp": 1, "cancelEvent": {}})


@dataclass
class FakeBackend:
    """Stacks by name with the number of their resources; `failures` are raised by `verb`."""

    stacks: dict[str, int] = field(default_factory=dict)
    failures: dict[str, BaseException] = field(default_factory=dict)
    events: list[EngineEvent] = field(default_factory=list)
    config_files: list[Path] = field(default_factory=list)
    logs: set[Path | None] = field(default_factory=set)
    """The logs that workspaces were made with."""

    def workspace(
        self, folder: Path, environment: Mapping[str, str], log: Path | None = None
    ) -> Any:
        """In place of `automation.workspace`."""
        assert (folder / "Pulumi.yaml").is_file()
        self.logs.add(log)
        return SimpleNamespace(
            create_stack=self._create, remove_stack=self._remove, env=environment
        )

    def stack(self, name: str, workspace: Any) -> Any:
        """In place of `automation.AutomationStack`."""
        assert workspace
        return SimpleNamespace(
            up=lambda **options: self._run("up", name, **options),
            destroy=lambda **options: self._run("destroy", name, **options),
        )

    def _create(self, name: str) -> None:
        if "init" in self.failures:
            raise self.failures["init"]
        self.stacks[name] = 0

    def _remove(self, name: str, force: bool, preserve_config: bool) -> None:
        assert force
        assert preserve_config
        del self.stacks[name]

    def _run(
        self, verb: str, name: str, config_file: str, on_event: Callable[[EngineEvent], None]
    ) -> Any:
        if name not in self.stacks:
            raise failure(f"error: no stack named '{name}' found")
        self.config_files.append(Path(config_file))
        for event in self.events:
            on_event(event)
        on_event(END)
        if verb in self.failures:
            raise self.failures[verb]
        on_event(summary_event(**({"create": 3} if verb == "up" else {"delete": 3})))
        return SimpleNamespace(stdout=f"{verb} of {name}\n", stderr="")
