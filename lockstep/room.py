"""How many pods a scenario's workers take: pods are sized so that two fill a worker."""

from __future__ import annotations

PODS_PER_WORKER = 2


def capacity(workers: int, blocked: int = 0) -> int:
    """How many pods the unblocked workers take."""
    return PODS_PER_WORKER * max(0, workers - blocked)


def workers_for(pods: int) -> int:
    """How many workers it takes to hold so many pods."""
    return -(-pods // PODS_PER_WORKER)
