"""A scenario's workers, its pool: their label, and how many pods they take.

Pods are sized so that two fill a worker.
"""

POOL_LABEL = "lockstep.dev/pool"
PODS_PER_WORKER = 2
BLOCKED_TAINT = "lockstep.dev/blocked"
"""Key of the taint, with effect NoSchedule, that blocks a worker."""


def capacity(workers: int, blocked: int = 0) -> int:
    """How many pods the unblocked workers take."""
    return PODS_PER_WORKER * max(0, workers - blocked)


def workers_for(pods: int) -> int:
    """How many workers it takes to hold so many pods."""
    return -(-pods // PODS_PER_WORKER)
