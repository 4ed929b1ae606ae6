"""The cache: one folder per group, named after what it was made from, made whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lockstep import paths
from toolchain.group import Group, architecture, system

MANIFEST = "made.json"


def root() -> Path:
    """Where the groups are."""
    return paths.cache_dir().absolute() / "toolchain"


def build_dir() -> Path:
    """Go's own caches: large, needed while building only."""
    return paths.cache_dir().absolute() / "build"


def sources() -> Path:
    """The Go module files of this checkout."""
    return Path(__file__).resolve().parent / "modules"


def key(group: Group) -> str:
    """The group's folder name; it changes with anything that the group is made from."""
    platform = f"{system()}/{architecture()}"
    digest = hashlib.sha256()
    digest.update(repr((platform, group.programs, group.embeds, group.copies)).encode())
    for module in group.modules:
        for file in sorted((sources() / module).iterdir()):
            digest.update(f"{module}/{file.name}".encode())
            digest.update(file.read_bytes())
    # Two versions of a group must not differ by their hash alone: people read the folder's name.
    name = group.name if group.name.endswith(group.version) else f"{group.name}-{group.version}"
    return f"{name}-{digest.hexdigest()[:10]}"


def folder(group: Group) -> Path:
    """Where the group is, or will be."""
    return root() / key(group)


def program(group: Group, name: str) -> Path:
    """Where one of the group's programs is, or will be."""
    return folder(group) / "bin" / name


def is_present(group: Group) -> bool:
    """Whether the group is there, whole."""
    return (folder(group) / MANIFEST).is_file() and all(
        program(group, piece.name).is_file() for piece in group.programs
    )


def source(group: Group) -> str:
    """How a present group was made: `release` or `built`."""
    return str(json.loads((folder(group) / MANIFEST).read_text())["source"])


def publish(group: Group, fill: Callable[[Path], str]) -> None:
    """Have `fill` make the group in a folder of its own, then put that in place in one step.

    `fill` returns how it made the group. The caller holds the group's lock.
    """
    key_ = key(group)
    _discard(
        root().glob(f".{key_}.*")
    )  # left by runs that were killed: the lock says none is alive
    partial = Path(tempfile.mkdtemp(prefix=f".{key_}.", dir=root()))
    try:
        (partial / "bin").mkdir()
        how = fill(partial)
        (partial / MANIFEST).write_text(json.dumps({"group": group.name, "source": how}) + "\n")
        partial.chmod(0o755)
        _sync(partial)
        _discard([folder(group)])
        partial.rename(folder(group))
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _discard(folders: Iterator[Path] | list[Path]) -> None:
    for unwanted in folders:
        shutil.rmtree(unwanted, ignore_errors=True)


def _sync(top: Path) -> None:
    """Write the files through to the disk, or a power cut could leave empty ones in place."""
    for file in top.rglob("*"):
        if file.is_file():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())


@contextmanager
def lock(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock by name; call `waiting` once when another run has it."""
    with _open_lock(name) as stream:
        if not _try(stream.fileno(), fcntl.LOCK_EX):
            waiting()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


@contextmanager
def use_of_build_dir() -> Iterator[None]:
    """Have Go's caches, and keep them from being removed while this run needs them."""
    with _open_lock("build") as stream:
        fcntl.flock(stream, fcntl.LOCK_SH)
        (build_dir() / "tmp").mkdir(parents=True, exist_ok=True)
        yield


def remove_build_dir() -> bool:
    """Remove Go's caches unless another run is building."""
    with _open_lock("build") as stream:
        if not _try(stream.fileno(), fcntl.LOCK_EX):
            return False
        remove(build_dir())
        return True


def remove(unwanted: Path) -> None:
    """Remove a folder, or the link to one that lives elsewhere."""
    if unwanted.is_symlink():
        unwanted.unlink()
    elif unwanted.exists():
        shutil.rmtree(unwanted)


def _open_lock(name: str) -> IO[str]:
    locks = paths.cache_dir() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    return (locks / name).open("w")


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def link(path: Path, target: Path) -> None:
    """Make `path` a symbolic link to `target` in one step, whatever link `path` was before."""
    if path.is_symlink() and path.readlink() == target:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    fresh.symlink_to(target)
    fresh.replace(path)
