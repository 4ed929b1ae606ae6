"""A gang that does not fit: none of its pods start, until a worker is unblocked."""

from __future__ import annotations

from .gang import Gang


class Constrained(Gang):
    """The set of `gang` on a pool with blocked workers.

    The gang is `held` while it does not fit the free workers, and `released` once it does.
    """

    scenario = "constrained"
