"""Wait for the health endpoint of a process that has just been started."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable

PAUSE = 0.05


def listens(port: int) -> bool:
    """Whether somebody listens on a port of the loopback address."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def await_listening(port: int, seconds: float) -> bool:
    """Wait until somebody listens on a port of the loopback address, or the time is up."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if listens(port):
            return True
        time.sleep(PAUSE)
    return False


def await_ok(connect: Callable[[], http.client.HTTPConnection], path: str, seconds: float) -> bool:
    """Ask until the answer is 200 or the time is up; a starting process has nothing to watch."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        connection = connect()
        try:
            connection.request("GET", path)
            if connection.getresponse().status == http.HTTPStatus.OK:
                return True
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(PAUSE)
    return False
