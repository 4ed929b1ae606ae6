"""LWS without the permission to create PodGroups: no pod starts, and the LWS log says why."""

from .gang import Gang


class MissingRbac(Gang):
    """LWS without the permission to create PodGroups: a recreated group gets no pods.

    The permission is for all namespaces, so no other scenario may run beside this one.
    """

    scenario = "missing-rbac"
