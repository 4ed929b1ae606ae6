"""More gangs than room, at the same time: they run one after the other, each complete."""

from typing import Any

from .gang import Gang


class Contention(Gang):
    """More gangs than room: they run one after the other, each complete.

    The drill ends a gang that has run for a while, and its group queues again: every gang gets its
    turn only if the scheduler is fair.
    """

    scenario = "contention"

    def expects(self) -> dict[str, Any]:
        """Expect as many gangs at the same time as fit the free pool."""
        sizes = self._args.sizes
        return {**super().expects(), "at_once": sizes.capacity // sizes.size}
