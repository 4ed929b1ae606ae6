"""Finding a Go compiler that is new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from lockstep.errors import LockstepError
from toolchain import cache
from toolchain.group import Group

GO_DIRECTIVE = re.compile(r"^go (\d+(?:\.\d+)*)$", re.MULTILINE)
GO_VERSION = re.compile(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?")
SYSTEM = Path("/")

Version = tuple[int, ...]


def needed_version(groups: Iterable[Group]) -> Version:
    """The oldest Go that the go.mod files of these groups accept."""
    needed: Version = (0,)
    for module in {module for group in groups for module in group.modules}:
        text = (cache.sources() / module / "go.mod").read_text()
        if found := GO_DIRECTIVE.search(text):
            needed = max(needed, tuple(int(part) for part in found[1].split(".")))
    return needed


def find(needed: Version) -> Path:
    """A Go compiler of at least this version."""
    too_old = ""
    for go in _candidates():
        version = _version(go)
        if version >= needed:
            return go
        if version and not too_old:
            too_old = f", {go} is {_dotted(version)}"
    raise LockstepError(
        f"Go {_dotted(needed)} or newer is needed to build the toolchain{too_old}; "
        "unpack it from https://go.dev/dl/ into /usr/local/go, or put it on PATH"
    )


def _dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)


def _candidates() -> Iterable[Path]:
    if on_path := shutil.which("go"):
        yield Path(on_path)
    for root, pattern in (
        (SYSTEM, "usr/local/go/bin/go"),
        (SYSTEM, "usr/lib/go*/bin/go"),
        (Path.home(), "go/bin/go"),
        (Path.home(), "sdk/go*/bin/go"),
    ):
        yield from sorted(root.glob(pattern), reverse=True)


def _version(go: Path) -> Version:
    """What `go version` says, () when it says nothing useful."""
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    try:
        done = subprocess.run(
            [go, "version"], env=environment, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    found = GO_VERSION.search(done.stdout)
    return tuple(int(part or 0) for part in found.groups()) if found else ()
