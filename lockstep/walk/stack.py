"""One stack of the Pulumi program, driven through the Pulumi command line."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import toolchain
from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.local import control_plane, kind, strays

SALT = "encryptionsalt"


def _environment() -> dict[str, str]:
    return {**os.environ, **toolchain.environment()}


@dataclass(frozen=True)
class Stack:
    """A stack by name; its config is the file in stacks/, or another one."""

    name: str
    config_file: Path | None = None
    environment: Mapping[str, str] = field(default_factory=_environment)

    @property
    def path(self) -> Path:
        """The file that holds the stack's config."""
        return self.config_file or self._usual_path()

    def _usual_path(self) -> Path:
        """Where Pulumi keeps a stack's config unless told otherwise."""
        return paths.project_dir() / "stacks" / f"Pulumi.{self.name}.yaml"

    def config(self, key: str) -> Any:
        """The value that the program will see: the stack's own, or else the project's default."""
        own = self._document().get("config") or {}
        if f"lockstep:{key}" in own:
            return own[f"lockstep:{key}"]
        project = yaml.safe_load((paths.project_dir() / "Pulumi.yaml").read_text())
        return project["config"][key].get("default")

    def _document(self) -> dict[str, Any]:
        """The stack's file; one line when there is none, or nobody can read it."""
        if not self.path.exists():
            known = sorted(p.name.split(".")[1] for p in self.path.parent.glob("Pulumi.*.yaml"))
            raise LockstepError(f"there is no stack {self.name}; choose one of {', '.join(known)}")
        try:
            document = yaml.safe_load(self.path.read_text()) or {}
        except yaml.YAMLError as error:
            reason = " ".join(str(error).split())
            raise LockstepError(f"{self.path} is not YAML: {reason}") from error
        if not isinstance(document, dict):
            raise LockstepError(f"{self.path} has no `config:`; see the other files beside it")
        return document

    def cluster_name(self) -> str:
        """The name of the cluster that the stack runs on."""
        return str(self.config("clusterName") or f"lockstep-{self.name}")

    def select(self) -> None:
        """Make the stack known to the backend, if it is not yet."""
        self._document()
        if self.exists():
            return
        usual = self._usual_path()
        if usual != self.path and usual.exists():
            if set(yaml.safe_load(usual.read_text()) or {}) - {SALT}:
                raise LockstepError(f"the name {self.name} is taken by {usual}")
            usual.unlink()  # of a run that was killed right here
        self.run("stack", "init", "--no-select", self.name, quiet=True)
        if usual != self.path:
            usual.unlink()  # `stack init` knows no other file

    def up(self, *options: str, **settings: Any) -> subprocess.CompletedProcess[str]:
        """`pulumi up` without questions."""
        return self.run("up", "--yes", "--skip-preview", *options, **settings)

    def outputs(self) -> dict[str, Any]:
        """`pulumi stack output --json`."""
        answer = self.run("stack", "output", "--json", "--show-secrets", quiet=True)
        values: dict[str, Any] = json.loads(answer.stdout)
        return values

    def down(self, *options: str, **settings: Any) -> None:
        """Destroy the stack and forget it, whatever state an interrupted run left it in."""
        provider = self.config("clusterProvider")
        strays.end(paths.project_dir())
        if self.exists():
            # A killed update leaves its lock behind; nobody else works on a stack of ours.
            self.run("cancel", "--yes", quiet=True, check=False)
            done = self.run("destroy", "--yes", "--skip-preview", *options, check=False, **settings)
            if done.returncode != 0 and provider != "kwok":
                raise LockstepError(f"could not destroy {self.name}; the lines above say why")
            self.run("stack", "rm", "--yes", "--force", "--preserve-config", self.name, quiet=True)
        # Also what a killed `up` had started and not yet told Pulumi.
        processes.end_all(paths.cluster_dir(self.cluster_name()))
        if provider == "kind":
            kind.delete(self.cluster_name())
        control_plane.delete(self.cluster_name())

    def exists(self) -> bool:
        """Whether the backend knows the stack."""
        listed = self.run("stack", "ls", "--json", quiet=True)
        names = (entry["name"].rsplit("/", 1)[-1] for entry in json.loads(listed.stdout))
        return self.name in names

    def run(
        self, *words: str, quiet: bool = False, check: bool = True, log: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `pulumi` on this stack; quiet captures what it prints, a log file takes it."""
        done = subprocess.run(
            self.command(*words),
            cwd=paths.project_dir(),
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=quiet or log is not None,
            text=True,
            check=False,
        )
        self._forget_salt()
        if log is not None:
            with log.open("a") as file:
                file.write(done.stdout + done.stderr)
        if check and done.returncode != 0:
            said = (done.stderr or done.stdout or "").strip().splitlines() if quiet else []
            reason = said[-1].removeprefix("error: ") if said else "the lines above say why"
            raise LockstepError(f"pulumi {words[0]} of {self.name} failed: {reason}")
        return done

    def command(self, *words: str) -> Sequence[str]:
        """The command line of `pulumi` for this stack."""
        command = [str(toolchain.tool("pulumi")), *words, "--non-interactive"]
        if words[:2] not in (("stack", "ls"), ("stack", "init"), ("stack", "rm")):
            command += ["--stack", self.name]
        if self.config_file is not None and words[0] in ("up", "preview", "destroy", "refresh"):
            command += ["--config-file", str(self.config_file)]
        return command

    def _forget_salt(self) -> None:
        """Take this machine's encryption salt out of the config file, which others share.

        Pulumi puts one there whenever it finds none; the state keeps its own. Only secrets in the
        file itself need it.
        """
        text = self.path.read_text() if self.path.exists() else ""
        if "secure:" in text:
            return
        lines = text.splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(f"{SALT}:")]
        if kept != lines:
            self.path.write_text("".join(kept))
