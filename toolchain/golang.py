"""Building a group from Go modules."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache
from toolchain.catalogue import Copy, Group, Program
from toolchain.progress import Progress

GO_VERSION = re.compile(r"\bgo(\d+)\.(\d+)")
REQUIREMENT = re.compile(r"^\t?(?:require )?(\S+) (v\S+)", re.MULTILINE)
NEEDED = [int(part) for part in versions.GO.split(".")]
USUAL_PLACES = ("/usr/local/go/bin/go", "/usr/lib/go*/bin/go", "~/go/bin/go", "~/sdk/go*/bin/go")

# go.sum decides which modules are accepted. Debug information, which the linker would drop, is not
# compiled: that saves a seventh of the work.
GO_FLAGS = "-mod=readonly -modcacherw -trimpath -buildvcs=false -gcflags=all=-dwarf=false"
REMOVED = ("GOOS", "GOARCH", "GOBIN", "GOEXPERIMENT", "GOROOT")
NETWORK_ERRORS = ("dial tcp", "i/o timeout", "no such host", "TLS handshake")


def find() -> Path:
    """A Go compiler that is new enough, from PATH or a usual place."""
    installed = [go for place in USUAL_PLACES for go in glob.glob(os.path.expanduser(place))]
    for go in filter(None, [shutil.which("go"), *sorted(installed, reverse=True)]):
        environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""}
        with contextlib.suppress(OSError):  # raised for a file that is no program
            asked = subprocess.run([go, "version"], env=environment, capture_output=True, text=True)
            version = GO_VERSION.search(asked.stdout)
            if version and [int(part) for part in version.groups()] >= NEEDED:
                return Path(go)
    raise LockstepError(
        f"Go {versions.GO} or newer is needed to build the toolchain; "
        "unpack it from https://go.dev/dl/ into /usr/local/go, or put it on PATH"
    )


def built_from(group: Group, program: Program) -> str:
    """The Go module and the version of a program's code, as its go.mod pins them."""
    package = program.package
    if package == "." and group.embeds:  # a main of Lockstep's around this module
        package = group.embeds[0].go_module
    required = REQUIREMENT.findall((cache.sources() / program.module / "go.mod").read_text())
    owners = [(path, version) for path, version in required if f"{package}/".startswith(f"{path}/")]
    return "@".join(max(owners)) if owners else f"toolchain/modules/{program.module}"


def go_environment() -> dict[str, str]:
    """The user's environment with fixed settings for the build, and Go's caches in the cache."""
    build = cache.build_dir()
    kept = {name: value for name, value in os.environ.items() if name not in REMOVED}
    return kept | {
        "CGO_ENABLED": "0",
        "GOCACHE": str(build / "go"),
        "GOFLAGS": GO_FLAGS,
        "GOMODCACHE": str(build / "mod"),
        "GOPATH": str(build / "path"),
        "GOTMPDIR": str(build / "tmp"),  # /tmp may be too small for a linker
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


@dataclass
class Builder:
    """Builds groups with one Go compiler, and writes what Go prints to one log file."""

    go: Path
    log: Path
    progress: Progress

    def build(self, group: Group, folder: Path) -> None:
        """Build the group's programs into `folder`/bin and copy its other files to `folder`."""
        (cache.build_dir() / "tmp").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.build_dir()) as scratch:
            sources = Path(scratch)
            for module in group.modules:
                shutil.copytree(cache.sources() / module, sources / module)
            for embed in group.embeds:
                self._copy(embed, sources, sources / embed.module / embed.target)
            for program in group.programs:
                flags = " ".join(["-s", "-w", *(f"-X {each}" for each in program.variables)])
                target = str(folder / "bin" / program.name)
                command = ["build", "-ldflags", flags, "-o", target, program.package]
                with self.progress.step(program.name, "building from Go modules", "built"):
                    self._run(program.name, sources / program.module, command)
            for piece in group.copies:
                self._copy(piece, sources, folder / piece.target)

    def _copy(self, piece: Copy, sources: Path, target: Path) -> None:
        command = ["mod", "download", "-json", piece.go_module]
        answer = self._run(piece.go_module, sources / piece.module, command)
        source = Path(json.loads(answer)["Dir"]) / piece.source
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
        # A module's files are read-only and its scripts are not executable.
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() or target.parent.name == "bin" else 0o644)

    def _run(self, name: str, cwd: Path, command: list[str]) -> str:
        """Run Go, with its output in the log too, and return what it printed on stdout."""
        done = subprocess.run(
            [self.go, *command], cwd=cwd, env=go_environment(), capture_output=True, text=True
        )
        output = done.stdout + done.stderr
        with self.log.open("a") as log:
            log.write(f"$ cd {cwd.name} && go {' '.join(command)}\n{output}\n")
        if done.returncode:
            raise LockstepError(explain(name, output, self.log))
        return done.stdout


def explain(name: str, output: str, log: Path) -> str:
    """Turn what Go printed when it failed into one line that says what to do."""
    lines = [line.strip() for line in output.splitlines() if line.strip(" {}")]
    if "no space left on device" in output:
        return (
            f"the disk became full while building {name}: free some space, or set LOCKSTEP_CACHE "
            "to a folder on a larger disk; what is built so far is kept"
        )
    for line in lines:
        if any(error in line for error in NETWORK_ERRORS):
            return (
                f"the Go module proxy is unreachable ({line[-160:].strip()}): check the network, "
                "or set GOPROXY; what is built so far is kept"
            )
    return f"building {name} failed: {(lines or ['no output'])[-1][:200]} (log: {log})"
