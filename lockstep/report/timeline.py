"""The timeline of a receipt: what happened to each pod, PodGroup and worker, and when."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0)]
Instant = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")]
PodChange = Literal["created", "bound", "running", "finished", "deleted"]


class Document(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """A part of a receipt; fields that have their default value are not written."""


class Moment(Document, frozen=True, kw_only=True):
    """A change with its time, in seconds since the recording started."""

    at: Seconds
    before: Annotated[
        bool, Meta(description="The change happened before the recording; `at` is the first look.")
    ] = False
    listed: Annotated[
        bool, Meta(description="The change happened while the watch was interrupted, before `at`.")
    ] = False

    @property
    def start(self) -> float:
        """The time from which the change is drawn: 0 if it happened before the recording."""
        return 0.0 if self.before else self.at


class PodMark(Moment, frozen=True, kw_only=True):
    """A change of a pod."""

    what: PodChange
    node: str | None = None


class PodTimeline(Document, frozen=True, kw_only=True):
    """What happened to one pod; a recreated pod is another one."""

    name: str
    uid: str
    group: Annotated[str | None, Meta(description="The pod's gang; null outside any gang.")]
    role: Literal["leader", "worker"] | None
    marks: list[PodMark]

    def mark(self, *changes: PodChange) -> PodMark | None:
        """The first of these changes, or None if the recording has none of them."""
        return next((mark for mark in self.marks if mark.what in changes), None)

    def _time(self, *changes: PodChange) -> float | None:
        mark = self.mark(*changes)
        return mark.start if mark else None

    @property
    def created(self) -> float:
        """When the pod was created; 0 if it existed before the recording."""
        return self._time("created") or 0.0

    @property
    def bound(self) -> float | None:
        """When the pod was bound to its node; None if it never was."""
        return self._time("bound")

    @property
    def running(self) -> float | None:
        """When the pod started to run; None if it never did."""
        return self._time("running")

    @property
    def ended(self) -> float | None:
        """When the pod finished or was deleted; None if it outlived the recording."""
        return self._time("finished", "deleted")

    @property
    def node(self) -> str | None:
        """The pod's node; None if the pod was never bound."""
        mark = self.mark("bound")
        return mark.node if mark else None


class PhaseMark(Moment, frozen=True, kw_only=True):
    """A change of a PodGroup's phase."""

    phase: str


class PodGroupTimeline(Document, frozen=True, kw_only=True):
    """The phases of one PodGroup, and what it asked for at the end."""

    name: str
    group: Annotated[str | None, Meta(description="The gang of the PodGroup, as in `pods`.")]
    min_member: int | None
    min_resources: dict[str, str]
    phases: list[PhaseMark]


class TaintMark(Moment, frozen=True, kw_only=True):
    """A taint that was set on or removed from a worker."""

    node: str
    key: str
    change: Literal["set", "removed"]


class EventLine(Document, frozen=True, kw_only=True):
    """A Kubernetes event, or a step of a drill."""

    at: Seconds
    reason: str
    object: Annotated[str, Meta(description="Kind/name.")]
    message: str
    count: Annotated[int, Meta(ge=1)]


class Timeline(Document, frozen=True, kw_only=True):
    """What was recorded; times are seconds since `started` by the recorder's monotonic clock."""

    started: Instant
    end: Seconds
    pods: list[PodTimeline]
    pod_groups: list[PodGroupTimeline]
    taints: list[TaintMark]
    events: list[EventLine]
