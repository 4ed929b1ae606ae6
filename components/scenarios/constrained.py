"""A gang that does not fit: none of its pods start, until a worker is unblocked."""

from .gang import Gang


class Constrained(Gang):
    """A gang that does not fit: none of its pods start, until a worker is unblocked."""

    scenario = "constrained"
