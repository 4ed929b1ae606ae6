"""Removing the toolchain."""

from __future__ import annotations

from lockstep import paths
from lockstep.errors import LockstepError
from toolchain import cache


def clean() -> None:
    """Remove every group, Go's caches and the logs, unless a run is building right now."""
    if not paths.cache_dir().exists():
        return
    if not cache.remove_build_dir():
        raise LockstepError("another run is building the toolchain; wait for it, or stop it")
    cache.remove(cache.root())
    cache.remove(paths.cache_dir() / "logs")
