"""The network that kind makes for its first cluster and never removes."""

from __future__ import annotations

import os
import subprocess

# kind's own settings: a user may have chosen another engine or network.
ENGINE = "KIND_EXPERIMENTAL_PROVIDER"
NETWORK = "KIND_EXPERIMENTAL_DOCKER_NETWORK"


def is_there() -> bool:
    """Whether somebody's cluster has it already, or had it."""
    return _network("inspect").returncode == 0


def remove_if_unused() -> None:
    """Remove it; the engine refuses while any container is on it, and that is right."""
    _network("rm")


def _network(verb: str) -> subprocess.CompletedProcess[bytes]:
    engine = os.environ.get(ENGINE, "docker")
    name = os.environ.get(NETWORK, "kind")
    return subprocess.run([engine, "network", verb, name], capture_output=True, check=False)
