"""Building a group from Go modules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError
from toolchain import build_log, cache, network
from toolchain.group import Copy, Group, Program

SILENCE = 15
"""Seconds without a word from a download before the module proxy is asked whether it lives."""

# Nothing of the user's own Go settings may change what is built; go.sum decides what is accepted.
# The linker would drop debug information anyway: not making it saves a seventh of the work.
GO_FLAGS = "-mod=readonly -modcacherw -trimpath -buildvcs=false -gcflags=all=-dwarf=false"
UNWANTED = ("GOOS", "GOARCH", "GOBIN", "GOEXPERIMENT", "GOROOT")


def go_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment for Go: its caches in ours, everything else pinned but the module proxy."""
    build = cache.build_dir()
    kept = {name: value for name, value in base.items() if name not in UNWANTED}
    return kept | {
        "CGO_ENABLED": "0",
        "GO111MODULE": "on",
        "GOCACHE": str(build / "go"),
        "GOFLAGS": GO_FLAGS,
        "GOMODCACHE": str(build / "mod"),
        "GOPATH": str(build / "path"),
        "GOTMPDIR": str(build / "tmp"),  # /tmp may be too small for a linker
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


@dataclass
class Workshop:
    """A Go compiler, a log, and a way to say that work goes on."""

    go: Path
    log: Path
    tick: Callable[[], None]

    def copy_sources(self, group: Group, into: Path) -> None:
        """Put the group's Go modules into a scratch folder, with the files that they embed."""
        for module in group.modules:
            shutil.copytree(cache.sources() / module, into / module)
        for embed in group.embeds:
            self._copy(embed, into, into / embed.module / embed.target)

    def build(self, program: Program, sources: Path, target: Path) -> None:
        """Download what the program needs, then compile it without the network."""
        where = sources / program.module
        self._fetch(program.name, where, ["list", "-x", "-deps", "-f", "{{/**/}}", program.package])
        flags = " ".join(["-s", "-w", *(f"-X {variable}" for variable in program.variables)])
        command = ["build", "-ldflags", flags, "-o", str(target), program.package]
        self._run(program.name, where, command, {"GOPROXY": "off"})

    def copy(self, piece: Copy, sources: Path, group_folder: Path) -> None:
        """Copy what the group takes from a Go module into the group's folder."""
        self._copy(piece, sources, group_folder / piece.target)

    def _copy(self, piece: Copy, sources: Path, target: Path) -> None:
        found = self._module(piece, sources) / piece.source
        target.parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            shutil.copytree(found, target)
        else:
            shutil.copy(found, target)
        # A module's files are read-only and its scripts are not executable.
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() or target.parent.name == "bin" else 0o644)

    def _module(self, piece: Copy, sources: Path) -> Path:
        where = sources / piece.module
        self._fetch(piece.go_module, where, ["mod", "download", "-x", piece.go_module])
        done = subprocess.run(
            [self.go, "list", "-m", "-json", piece.go_module],
            cwd=where,
            env=go_environment(os.environ) | {"GOPROXY": "off"},
            capture_output=True,
            text=True,
            check=True,
        )
        return Path(json.loads(done.stdout)["Dir"])

    def _fetch(self, name: str, where: Path, command: Sequence[str]) -> None:
        self._run(name, where, command, {}, self._watched_tick())

    def _run(
        self,
        name: str,
        where: Path,
        command: Sequence[str],
        settings: Mapping[str, str],
        tick: Callable[[], None] | None = None,
    ) -> None:
        environment = {**go_environment(os.environ), **settings}
        words = build_log.run(
            self.log,
            [self.go, *command],
            tick=tick or self.tick,
            environment=environment,
            cwd=where,
        )
        if words is not None:
            raise LockstepError(explain(name, words, self.log))

    def _watched_tick(self) -> Callable[[], None]:
        """A tick that asks the module proxy for a sign of life when a download is silent."""
        size, heard = self.log.stat().st_size, time.monotonic()

        def tick() -> None:
            nonlocal size, heard
            self.tick()
            if self.log.stat().st_size != size:
                size, heard = self.log.stat().st_size, time.monotonic()
            elif time.monotonic() - heard > SILENCE:
                network.check_module_proxy(self.go, go_environment(os.environ))
                heard = time.monotonic()

        return tick


def explain(name: str, words: Iterable[str], log: Path) -> str:
    """Turn what Go said into one line that says what to do."""
    lines = [line for line in words if line and not line.startswith("# get ")]
    text = "\n".join(lines)
    if "no space left on device" in text:
        return (
            f"the disk became full while building {name}: free some space, or set LOCKSTEP_CACHE "
            "to a folder on a larger disk; what is built so far is kept"
        )
    for line in reversed(lines):
        if any(sign in line for sign in ("dial tcp", "i/o timeout", "no such host", "TLS hand")):
            return (
                f"the Go module proxy does not answer ({line.strip()[-160:]}): check the network, "
                "or set GOPROXY; what is built so far is kept"
            )
    last = next((line.strip() for line in reversed(lines)), "Go said nothing")
    return f"building {name} failed: {last[:200]} (the whole log: {log})"
