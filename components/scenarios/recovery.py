"""A gang that loses its leader, a worker and a node: the whole gang is recreated each time."""

from .gang import Gang


class Recovery(Gang):
    """A gang that loses its leader, a worker and a node: it is recreated each time.

    The drill takes a node away by a taint; the component owns the pool's taints and clears them.
    """

    scenario = "recovery"

    @property
    def blocked(self) -> int:
        """No worker; the resource exists so that the taints are owned."""
        return 0
