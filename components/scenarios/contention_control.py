"""The control of contention: the same groups, pod by pod, by the default scheduler."""

from .contention import Contention
from .no_gang import DEFAULT_SCHEDULER


class ContentionControl(Contention):
    """The control of contention: the same groups, pod by pod, by the default scheduler.

    Leaders are created first, so each group gets a part of the room and no group gets enough. The
    scenario needs an LWS without the scheduler provider: with it, LWS creates PodGroups also for
    sets that another scheduler places (lws#630).
    """

    scenario = "contention-control"
    scheduler = DEFAULT_SCHEDULER
