from hypothesis import given
from hypothesis import strategies as st

from lockstep.scenarios import pool as room


@given(st.integers(0, 10_000))
def test_workers_for_pods_hold_them_and_one_fewer_does_not(pods: int) -> None:
    workers = room.workers_for(pods)
    assert room.capacity(workers) >= pods
    assert workers == 0 or room.capacity(workers - 1) < pods


def test_blocked_workers_hold_nothing() -> None:
    assert room.capacity(3, blocked=2) == 2
    assert room.capacity(3, blocked=4) == 0
