"""Scenarios of the set of `gang`: on other workers, with other settings, or with a drill."""

from __future__ import annotations

from typing import Any

from lockstep.scenarios.pool import workers_for

from .gang import Gang
from .no_gang import DEFAULT_SCHEDULER


class Constrained(Gang):
    """A gang that does not fit: none of its pods start, until a worker is unblocked."""

    scenario = "constrained"


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


class ContentionControl(Contention):
    """The control of contention: the same groups, pod by pod, by the default scheduler.

    Leaders are created first, so each group gets a part of the room and no group gets enough. The
    scenario needs an LWS without the scheduler provider: with it, LWS creates PodGroups also for
    sets that another scheduler places (lws#630).
    """

    scenario = "contention-control"
    scheduler = DEFAULT_SCHEDULER


class Recovery(Gang):
    """A gang that loses its leader, a worker and a node: it is recreated each time.

    The drill takes a node away by a taint; the component owns the pool's taints and clears them.
    """

    scenario = "recovery"

    @property
    def blocked(self) -> int:
        """No worker; the resource exists so that the taints are owned."""
        return 0


class RollingUpdate(Gang):
    """A new template where room is tight: complete groups are replaced by complete groups.

    The workers that the set does not fill are blocked, until the drill unblocks them for surge.
    """

    scenario = "rolling-update"

    @property
    def blocked(self) -> int:
        """Workers that the set does not fill."""
        sizes = self._args.sizes
        return sizes.workers - workers_for(sizes.pods)


class Scale(Gang):
    """A set that the drill scales, as an autoscaler would: its PodGroups must follow."""

    scenario = "scale"


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


class MissingRbac(Gang):
    """LWS without the permission to create PodGroups: a recreated group gets no pods.

    The permission is for all namespaces, so no other scenario may run beside this one.
    """

    scenario = "missing-rbac"
