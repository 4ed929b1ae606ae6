"""A new template where room is tight: complete groups are replaced by complete groups."""

from lockstep.scenarios.pool import workers_for

from .gang import Gang


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
