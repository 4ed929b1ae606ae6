"""Wait for the health endpoint of a process that has just been started."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable

PAUSE = 0.05


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
