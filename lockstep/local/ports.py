"""Free ports for one cluster, so that several run side by side."""

from __future__ import annotations

import random
import socket
from collections.abc import Sequence

from lockstep.errors import LockstepError

# Below the range from which the kernel takes ports for outgoing connections: a port found free
# here is still free when the server asks for it a second later.
LOWEST, HIGHEST = 20000, 32000
TRIES = 2000


def free_ports(names: Sequence[str]) -> dict[str, int]:
    """One free port per name, drawn at random so that two clusters made at once do not collide."""
    ports: dict[str, int] = {}
    for _ in range(TRIES):
        if len(ports) == len(names):
            return ports
        port = random.randint(LOWEST, HIGHEST)  # noqa: S311 - not a secret
        if port not in ports.values() and is_free(port):
            ports[names[len(ports)]] = port
    raise LockstepError(
        f"no free ports between {LOWEST} and {HIGHEST}; stop what listens there (ss -ltn)"
    )


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback address."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections linger in TIME_WAIT can be used again.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
