"""Wait for a condition that nothing announces, under one deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

from lockstep.errors import LockstepError

T = TypeVar("T")


def wait_until(what: str, check: Callable[[], T], seconds: float, pause: float = 0.1) -> T:
    """Call `check` every `pause` seconds until its result is true, and return the result.

    Raises LockstepError "timed out after … s waiting for <what>" when `seconds` have passed.
    `check` is called once more at the deadline, so a slow check cannot miss a condition that holds.
    """
    deadline = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() >= deadline
        result = check()
        if result:
            return result
        if is_last:
            raise LockstepError(f"timed out after {seconds:g} s waiting for {what}")
        time.sleep(min(pause, max(deadline - time.monotonic(), 0.0)))
