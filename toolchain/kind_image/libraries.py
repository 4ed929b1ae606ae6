"""Taking programs out of a Debian root together with the libraries that they load."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lockstep.errors import LockstepError
from toolchain.kind_image.archive import Entry

# "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)" or "/lib64/ld-linux-x86-64.so.2 (0x…)"
LOADED = re.compile(r"(?:=>\s*|^\s*)(/\S+)\s+\(0x", re.MULTILINE)


def with_libraries(root: Path, files: Sequence[str]) -> tuple[Entry, ...]:
    """Programs or libraries of a root, and all that they load, at the places they look for it."""
    done = subprocess.run(
        ["chroot", root, "ldd", *files], capture_output=True, text=True, check=False
    )
    if "not found" in done.stdout + done.stderr:
        raise LockstepError(f"a library is missing in {root}; remove the folder and try again")
    paths = dict.fromkeys([*files, *needed(done.stdout)])
    return tuple(Entry(path, resolve(root, path)) for path in paths)


def needed(ldd: str) -> list[str]:
    """The files that `ldd` names; none for a static program."""
    return LOADED.findall(ldd)


def resolve(root: Path, path: str) -> Path:
    """The file at a path of the root, where an absolute link starts at that root."""
    current = root
    parts = [part for part in Path(path).parts if part != "/"]
    while parts:
        step = current / parts.pop(0)
        if step.is_symlink():
            target = step.readlink()
            current = root if target.is_absolute() else current
            parts = [part for part in target.parts if part != "/"] + parts
        elif step.name == "..":
            current = current.parent if current != root else root
        else:
            current = step
    return current
