"""One stack of the Pulumi program, driven through Pulumi's Automation API."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import yaml

import toolchain
from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.walk import orphans
from lockstep.walk.events import EventLog

if TYPE_CHECKING:
    from pulumi.automation import LocalWorkspace

PROJECT = "lockstep"
SALT = "encryptionsalt"


@dataclass(frozen=True)
class Update:
    """How a `pulumi up` or a `pulumi destroy` ended."""

    reason: str
    """Why it failed, in a line; empty when it did not."""
    events: EventLog
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return not self.reason


@dataclass(frozen=True)
class Removal:
    """What `down` removed."""

    resources: int | None
    """How many resources; None when the backend does not have the stack."""
    processes: int
    """How many processes were left and were ended."""


@dataclass
class Stack:
    """A stack by name.

    Its config is a generated file in Lockstep's state folder. Pulumi writes an encryption salt of
    this machine into a stack's config file, so the files in stacks/, which are in git, are only
    read.
    """

    name: str
    environment: Mapping[str, str] = field(default_factory=toolchain.environment)
    """Variables for Pulumi on top of those of this process."""
    log: Path | None = None
    """The file to which all that Pulumi prints is appended."""

    @property
    def path(self) -> Path:
        """The generated config file."""
        return self._folder / f"Pulumi.{self.name}.yaml"

    @property
    def _folder(self) -> Path:
        """A Pulumi project of the same name as the checkout, in which stacks are made.

        `pulumi stack init` writes the config file of the new stack to the project that it runs in.
        """
        folder = paths.state_dir() / "stacks"
        folder.mkdir(mode=0o700, exist_ok=True)
        project = folder / "Pulumi.yaml"
        if not project.exists():
            project.write_text(f"name: {PROJECT}\nruntime: python\n")
        return folder

    def write_config(
        self, base: str | None = None, changes: Mapping[str, Any] | None = None
    ) -> None:
        """Write the generated config file: that of a stack in stacks/, with some keys changed."""
        document = read_stack_file(base or self.name)
        keys = {f"{PROJECT}:{key}": value for key, value in (changes or {}).items()}
        document["config"] = {**(document.get("config") or {}), **keys}
        if SALT not in document and self.path.exists():
            # With the salt of the last update Pulumi has less to compute.
            before = yaml.safe_load(self.path.read_text()) or {}
            document |= {SALT: before[SALT]} if SALT in before else {}
        self.path.write_text(yaml.safe_dump(document))

    def config(self, key: str) -> Any:
        """Return the value that the program will see: the stack's, or the project's default."""
        own = yaml.safe_load(self.path.read_text()).get("config") or {}
        if f"{PROJECT}:{key}" in own:
            return own[f"{PROJECT}:{key}"]
        project = yaml.safe_load((paths.checkout_dir() / "Pulumi.yaml").read_text())
        return project["config"][key].get("default")

    def cluster_name(self) -> str:
        """Return the name of the cluster that the stack runs on."""
        return str(self.config("clusterName") or f"lockstep-{self.name}")

    def up(self, on_progress: Callable[[EventLog], None] = lambda _: None) -> Update:
        """Run `pulumi up`; create the stack if the backend does not have it."""
        from pulumi.automation import StackNotFoundError

        self._clear_after_killed_updates()
        orphans.end(paths.checkout_dir())  # a judge of a killed update would judge the same pods
        try:
            return self._run("up", on_progress)
        except StackNotFoundError:
            self.create()
            return self._run("up", on_progress)

    def start_log(self) -> Path:
        """Keep all that Pulumi prints from now on in a new log, which only this user can read."""
        self.log = paths.out_dir() / f"pulumi-{self.name}.log"
        self.log.unlink(missing_ok=True)
        return paths.private_file(self.log)

    def ensure_tools(self) -> None:
        """Fetch or build what an update of the stack needs."""
        is_kind = self.config("clusterProvider") == "kind"
        ensure_tools(
            lws=[str(self.config("lwsVersion"))],
            volcano=[str(self.config("volcanoVersion"))],
            kind=is_kind,
        )
        # Of tools that were missing before, the environment had neither the path nor the plugins.
        self.environment = {**self.environment, **toolchain.environment()}

    def create(self) -> None:
        """Create the stack in the backend, without resources."""
        from pulumi.automation import CommandError

        try:
            self._home.create_stack(self.name)
        except CommandError as error:
            raise LockstepError(f"cannot create the stack {self.name}: {_stderr(error)}") from error

    def down(self, on_progress: Callable[[EventLog], None] = lambda _: None) -> Removal:
        """Destroy the stack and remove all it left, also after a killed update."""
        from pulumi.automation import StackNotFoundError

        from lockstep.local import control_plane, kind  # only here: they take time to load

        provider = self.config("clusterProvider")
        self._clear_after_killed_updates()
        ended = orphans.end(paths.checkout_dir())
        resources = None
        try:
            update = self._run("destroy", on_progress)
            if not update.ok and provider != "kwok":
                raise LockstepError(f"cannot destroy the stack {self.name}: {update.reason}")
            resources = update.events.changes.get("delete", 0)
            self._home.remove_stack(self.name, force=True, preserve_config=True)
        except StackNotFoundError:
            pass
        # What a killed `up` started and had not yet recorded in Pulumi's state.
        ended += processes.end_all(paths.cluster_dir(self.cluster_name()))
        if provider == "kind":
            kind.delete(self.cluster_name())
        control_plane.delete(self.cluster_name())
        return Removal(resources, ended)

    def forget(self) -> None:
        """Remove the generated config file."""
        self.path.unlink(missing_ok=True)

    @cached_property
    def _home(self) -> LocalWorkspace:
        from lockstep.walk.automation import workspace

        return workspace(self._folder, self.environment, self.log)

    def _run(self, verb: str, on_progress: Callable[[EventLog], None]) -> Update:
        """Run `up` or `destroy` of the program in the checkout with the generated config file."""
        from pulumi.automation import CommandError, ConcurrentUpdateError, StackNotFoundError

        from lockstep.walk.automation import AutomationStack, workspace

        home = workspace(paths.checkout_dir(), self.environment, self.log)
        stack = AutomationStack(self.name, home)
        events = EventLog(on_progress)
        started = time.monotonic()
        reason = ""
        try:
            getattr(stack, verb)(config_file=str(self.path), on_event=events)
        except StackNotFoundError:
            raise
        except ConcurrentUpdateError:
            reason = (
                f"another update of the stack {self.name} is running; wait until it has ended, "
                f"or run `pulumi cancel -s {self.name}` if it was killed"
            )
        except CommandError as error:
            events.wait_for_end()
            reason = events.reason or _stderr(error)
        orphans.end(paths.checkout_dir())  # a plugin may miss the end of the engine
        return Update(reason, events, time.monotonic() - started)

    def _clear_after_killed_updates(self) -> None:
        """Delete the locks and damaged files that killed updates left in the checkout's backend.

        A shared backend is left alone: its locks may belong to an update of another user.
        """
        backend = paths.state_dir() / "backend"
        if self.environment.get("PULUMI_BACKEND_URL") != backend.as_uri():
            return
        for lock in backend.glob(f".pulumi/locks/*/{PROJECT}/{self.name}/*.json"):
            if not _is_held(lock):
                lock.unlink(missing_ok=True)
        # Pulumi replaces the state file itself in one step, but not the file with its attributes.
        # If that is empty, every command ends in "error: EOF"; Pulumi can do without it.
        for attributes in backend.glob(f".pulumi/stacks/{PROJECT}/{self.name}.json*.attrs"):
            if attributes.stat().st_size == 0:
                attributes.unlink(missing_ok=True)


def _is_held(lock: Path) -> bool:
    """Whether the process that wrote a lock of Pulumi's file backend may still run."""
    try:
        owner = json.loads(lock.read_text())
        if owner["hostname"] != socket.gethostname():
            return True
        return processes.is_alive(psutil.Process(owner["pid"]))  # a zombie is not
    except psutil.NoSuchProcess:
        return False
    except (OSError, ValueError, KeyError):
        return True


def _stderr(error: Exception) -> str:
    """Return the line that says why the CLI failed."""
    said = str(error).rsplit("\n stderr: ", 1)[-1].strip().splitlines()
    return said[-1].removeprefix("error: ") if said else "Pulumi did not say why"


def read_stack_file(name: str) -> dict[str, Any]:
    """Return the document of a stack file in stacks/."""
    path = paths.checkout_dir() / "stacks" / f"Pulumi.{name}.yaml"
    if not path.exists():
        known = sorted(file.name.split(".")[1] for file in path.parent.glob("Pulumi.*.yaml"))
        raise LockstepError(f"there is no stack {name}; choose one of {', '.join(known)}")
    try:
        document = yaml.safe_load(path.read_text()) or {}
    except yaml.YAMLError as error:
        raise LockstepError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict):
        raise LockstepError(f"{path} has no `config:`; see the other files in {path.parent}")
    return document


def stack_config(name: str) -> dict[str, Any]:
    """Return the keys that a stack file in stacks/ sets, without their namespace."""
    config = read_stack_file(name).get("config") or {}
    return {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items()}


def ensure_tools(
    *, lws: Sequence[str] = (), volcano: Sequence[str] = (), kind: bool = False
) -> None:
    """Fetch or build what an update needs."""
    from toolchain import catalogue
    from toolchain.making import default_groups

    named = [*(f"lws-{version}" for version in lws), *(f"volcano-{one}" for one in volcano)]
    extra = [group for group in named if group in catalogue.groups()]
    extra += ["kind"] if kind else []
    toolchain.ensure(list(dict.fromkeys([*default_groups(), *extra])))
