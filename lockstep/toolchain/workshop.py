"""Building a group from Go modules."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.toolchain import cache, network
from lockstep.toolchain.group import Copy, Group, Program

SILENCE = 15
"""Seconds without a word from a download before the module proxy is asked whether it lives."""

# Nothing of the user's own Go settings may change what is built; go.sum decides what is accepted.
# The linker would drop debug information anyway: not making it saves a seventh of the work.
GO_FLAGS = "-mod=readonly -modcacherw -trimpath -buildvcs=false -gcflags=all=-dwarf=false"
UNWANTED = ("GOOS", "GOARCH", "GOBIN", "GOEXPERIMENT", "GOROOT")

PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


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
        self._run(name, where, command, {}, watch_network=True)

    def _run(
        self,
        name: str,
        where: Path,
        command: Sequence[str],
        settings: Mapping[str, str],
        *,
        watch_network: bool = False,
    ) -> None:
        with self.log.open("ab") as log:
            log.write(f"\n$ cd {where.name} && go {' '.join(command)}\n".encode())
            log.flush()
            begin = log.tell()
            process = subprocess.Popen(
                [self.go, *command],
                preexec_fn=_die_with_parent,
                cwd=where,
                env={**go_environment(os.environ), **settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            try:
                self._wait(process, watch_network=watch_network)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
        if process.returncode:
            raise LockstepError(explain(name, self._words_since(begin), self.log))

    def _wait(self, process: subprocess.Popen[bytes], *, watch_network: bool) -> None:
        size, heard = 0, time.monotonic()
        while True:
            try:
                process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                self.tick()
            else:
                return
            if self.log.stat().st_size != size:
                size, heard = self.log.stat().st_size, time.monotonic()
            elif watch_network and time.monotonic() - heard > SILENCE:
                network.check_module_proxy(self.go, go_environment(os.environ))
                heard = time.monotonic()

    def _words_since(self, begin: int) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(begin)
            text = log.read().decode(errors="replace")
        return [line for line in text.splitlines() if line and not line.startswith("# get ")]


def _die_with_parent() -> None:
    """Have a killed run take its compiler with it; runs in the child, before Go does."""
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def explain(name: str, words: Iterable[str], log: Path) -> str:
    """Turn what Go said into one line that says what to do."""
    lines = list(words)
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
