"""Ports of the loopback address: find free ones, and wait until a server answers."""

import http.client
import random
import socket
import time
from collections.abc import Callable, Sequence

from lockstep.errors import LockstepError

# Below the range from which the kernel takes ports for outgoing connections: a port that is free
# now is still free when the server asks for it a second later.
LOWEST, HIGHEST = 20000, 32000
PAUSE = 0.05


def free_ports(names: Sequence[str]) -> dict[str, int]:
    """Return a free port per name, at random so that clusters created at once do not collide."""
    candidates = random.sample(range(LOWEST, HIGHEST), HIGHEST - LOWEST)
    found = dict(zip(names, filter(is_free, candidates), strict=False))
    if len(found) < len(names):
        raise LockstepError(
            f"no free ports between {LOWEST} and {HIGHEST}; stop what listens there (ss -ltn)"
        )
    return found


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port."""
    with socket.socket() as probe:
        # As servers do: a port whose last connections linger in TIME_WAIT can be used again.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def listens(port: int) -> bool:
    """Tell whether a server listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def await_listening(port: int, seconds: float, give_up: Callable[[], None] | None = None) -> bool:
    """Wait until a server listens on a port; False after a timeout.

    `give_up` is called before each look, and may raise what makes waiting useless.
    """

    def check() -> bool:
        if give_up:
            give_up()
        return listens(port)

    return _await(check, seconds)


def await_ok(connect: Callable[[], http.client.HTTPConnection], path: str, seconds: float) -> bool:
    """Wait until a server answers a path with 200; False after a timeout."""

    def answers() -> bool:
        connection = connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return _await(answers, seconds)


def _await(check: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(PAUSE)
    return True
