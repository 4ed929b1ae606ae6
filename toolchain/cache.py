"""The cache of built and downloaded programs: one folder per group, published in one step."""

import fcntl
import hashlib
import json
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lockstep import paths
from lockstep.errors import LockstepError
from toolchain.catalogue import Group, platform_name

MANIFEST = "made.json"


def root() -> Path:
    """The folder that has the groups."""
    return paths.cache_dir().absolute() / "toolchain"


def build_dir() -> Path:
    """Go's own caches: several GB, needed only while building."""
    return paths.cache_dir().absolute() / "build"


def sources() -> Path:
    """The Go module files of this checkout."""
    return Path(__file__).resolve().parent / "modules"


def key(group: Group) -> str:
    """The group's folder name; it changes with everything that the group is built from."""
    platform = platform_name().replace("-", "/")
    description = (platform, group.programs, group.embeds, group.copies)
    digest = hashlib.sha256(repr(description).encode())
    for module in group.modules:
        for file in sorted((sources() / module).rglob("*")):
            if file.is_file():
                digest.update(str(file.relative_to(sources())).encode())
                digest.update(file.read_bytes())
    name = group.name if group.name.endswith(group.version) else f"{group.name}-{group.version}"
    return f"{name}-{digest.hexdigest()[:10]}"


def folder(group: Group) -> Path:
    """The group's folder, whether or not it exists."""
    return root() / key(group)


def program(group: Group, name: str) -> Path:
    """The path of one of the group's programs, whether or not it exists."""
    return folder(group) / "bin" / name


def is_present(group: Group) -> bool:
    """Whether the group is in the cache, with all its programs."""
    return (folder(group) / MANIFEST).is_file() and all(
        program(group, piece.name).is_file() for piece in group.programs
    )


def source(group: Group) -> str:
    """How a cached group came there: `release` (downloaded) or `built`."""
    return str(json.loads((folder(group) / MANIFEST).read_text())["source"])


def publish(group: Group, source: str, fill: Callable[[Path], None]) -> None:
    """Let `fill` write the group into a temporary folder, then rename that to the group's folder.

    The caller holds the lock, so temporary folders of the group are left over from killed runs.
    """
    for unwanted in (*root().glob(f".{key(group)}.*"), folder(group)):
        shutil.rmtree(unwanted, ignore_errors=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{key(group)}.", dir=root()))
    try:
        (partial / "bin").mkdir()
        fill(partial)
        (partial / MANIFEST).write_text(json.dumps({"group": group.name, "source": source}) + "\n")
        partial.chmod(0o755)
        partial.rename(folder(group))
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def lock(waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the cache's lock; call `waiting` first if another run holds it."""
    paths.cache_dir().mkdir(parents=True, exist_ok=True)
    with (paths.cache_dir() / "lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def clean() -> None:
    """Remove every group, Go's caches and the logs, unless another run is building."""

    def refuse() -> None:
        raise LockstepError("another run is building the toolchain; wait for it, or stop it")

    with lock(refuse):
        for unwanted in (root(), build_dir(), paths.cache_dir() / "logs"):
            shutil.rmtree(unwanted, ignore_errors=True)


def link(path: Path, target: Path) -> None:
    """Make `path` a symbolic link to `target` in one step, whatever link `path` was before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    fresh.symlink_to(target)
    fresh.replace(path)
