"""wait_until: one way to wait for what nothing announces."""

import time

import pytest

from lockstep.errors import LockstepError
from lockstep.wait import wait_until


def test_wait_until_returns_the_first_true_result() -> None:
    results = iter([None, 0, "ready", "later"])
    assert wait_until("it", lambda: next(results), seconds=5, pause=0) == "ready"


def test_wait_until_names_what_is_missing_at_its_deadline() -> None:
    before = time.monotonic()
    with pytest.raises(LockstepError, match=r"^timed out after 0\.2 s waiting for the moon$"):
        wait_until("the moon", lambda: False, seconds=0.2, pause=0.01)
    assert 0.2 <= time.monotonic() - before < 2


def test_wait_until_checks_once_more_at_the_deadline() -> None:
    """A check that takes longer than the timeout must not hide a condition that holds by now."""
    results = iter([False, True])

    def slow() -> bool:
        time.sleep(0.05)
        return next(results)

    assert wait_until("it", slow, seconds=0.01)
