"""A set that grows and shrinks: its PodGroups must follow."""

from .gang import Gang


class Scale(Gang):
    """A set that the drill scales, as an autoscaler would: its PodGroups must follow."""

    scenario = "scale"
