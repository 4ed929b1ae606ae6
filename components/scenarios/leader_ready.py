"""Workers that wait for their leader: the leader is placed alone."""

from typing import Any

from .gang import Gang


class LeaderReady(Gang):
    """A group with startupPolicy LeaderReady, which leaves no gang.

    LWS creates the workers when the leader is ready, so the leader must be placed alone: the
    PodGroup has minMember 1, and whatever fits is bound. The drill shows it on too small a pool.
    """

    scenario = "leader-ready"
    startup_policy = "LeaderReady"

    @property
    def blocked(self) -> int:
        """No worker: the drill blocks workers and unblocks them."""
        return 0

    def expects(self) -> dict[str, Any]:
        """Expect a PodGroup for the leader alone."""
        return {**super().expects(), "min_member": 1}
