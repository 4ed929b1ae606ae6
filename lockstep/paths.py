"""Where Lockstep keeps things: tools per user, everything else per checkout."""

from __future__ import annotations

import os
from pathlib import Path


def project_dir() -> Path:
    """The checkout: the folder of Pulumi.yaml."""
    return Path(__file__).resolve().parent.parent


def cache_dir() -> Path:
    """The toolchain's cache, shared by all checkouts of this user."""
    if own := os.environ.get("LOCKSTEP_CACHE"):
        return Path(own)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "lockstep"


def state_dir() -> Path:
    """Clusters, recordings, the local Pulumi backend and its passphrase: for their owner only."""
    own = os.environ.get("LOCKSTEP_STATE")
    folder = Path(own) if own else project_dir() / ".lockstep"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.resolve()


def cluster_dir(name: str) -> Path:
    """Everything that belongs to one cluster; gone when the cluster is."""
    return state_dir() / "clusters" / name
