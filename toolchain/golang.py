"""The Go compiler: the user's, or a downloaded one; its environment and its errors."""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache

GO_VERSION = re.compile(r"\bgo(\d+)\.(\d+)")
NEEDED = [int(part) for part in versions.GO.split(".")]
USUAL_PLACES = ("/usr/local/go/bin/go", "/usr/lib/go*/bin/go", "~/go/bin/go", "~/sdk/go*/bin/go")
WHEEL = Path(__file__).with_name("go.txt")
"""The Python package that has Go, with the checksum of its wheel for each platform."""

# go.sum decides which modules are accepted. Debug information, which the linker would drop, is not
# compiled: that saves a seventh of the work.
GO_FLAGS = "-mod=readonly -modcacherw -trimpath -buildvcs=false -gcflags=all=-dwarf=false"
# Compilers that collect garbage less often need a fifth less time. The limit is for two of them on
# a machine with 4 GiB of memory.
MEMORY = {"GOGC": "400", "GOMEMLIMIT": "1500MiB"}
REMOVED = ("GOOS", "GOARCH", "GOBIN", "GOEXPERIMENT", "GOROOT")
NETWORK_ERRORS = ("dial tcp", "i/o timeout", "no such host", "TLS handshake")


def find() -> Path | None:
    """The user's Go compiler, from PATH or a usual place, if it is new enough."""
    installed = [go for place in USUAL_PLACES for go in glob.glob(os.path.expanduser(place))]
    for go in filter(None, [shutil.which("go"), *sorted(installed, reverse=True)]):
        environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""}
        with contextlib.suppress(OSError):  # raised for a file that is no program
            asked = subprocess.run([go, "version"], env=environment, capture_output=True, text=True)
            version = GO_VERSION.search(asked.stdout)
            if version and [int(part) for part in version.groups()] >= NEEDED:
                return Path(go)
    return None


def downloaded() -> Path:
    """Where the build folder has the downloaded Go compiler, whether or not it exists."""
    return cache.build_dir() / f"go-{versions.GO_DOWNLOADED}" / "go" / "bin" / "go"


def download() -> None:
    """Put a Go compiler from the Python package index into the build folder, by the user's pip."""
    cache.build_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache.build_dir()) as folder:
        options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--dest", folder]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, "--requirement", str(WHEEL)],
            capture_output=True,
            text=True,
        )
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or [done.stderr]
            raise LockstepError(
                f"Go {versions.GO} or newer is needed to build the toolchain, and pip cannot "
                f"download it ({lines[0].strip()[:200]}); check the network, or put Go on PATH"
            )
        unpacked = Path(folder) / "unpacked"
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(unpacked)
            for entry in wheel.infolist():
                if entry.external_attr >> 16 & 0o111:  # extractall does not keep modes
                    (unpacked / entry.filename).chmod(0o755)
        unpacked.rename(downloaded().parents[2])


def environment() -> dict[str, str]:
    """The user's environment with fixed settings for the build, and Go's caches in the cache."""
    build = cache.build_dir()
    kept = {name: value for name, value in os.environ.items() if name not in REMOVED}
    settings = {
        "CGO_ENABLED": "0",
        "GOCACHE": str(build / "go"),
        "GOFLAGS": GO_FLAGS,
        "GOMODCACHE": str(build / "mod"),
        "GOPATH": str(build / "path"),
        "GOTMPDIR": str(build / "tmp"),  # /tmp may be too small for a linker
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    return MEMORY | kept | settings


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
