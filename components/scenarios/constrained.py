"""A gang that does not fit: none of its pods start, until a worker is unblocked."""

from __future__ import annotations

from .gang import Gang


class Constrained(Gang):
    """A gang that does not fit: none of its pods start, until a worker is unblocked."""

    scenario = "constrained"
