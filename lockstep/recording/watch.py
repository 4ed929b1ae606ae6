"""The watches of a recording: every object that concerns a scenario, without gaps.

Each kind is listed once, then watched from the list's resourceVersion. A watch that breaks is
resumed from the last version seen; where the API server has forgotten that version (410 Gone), the
kind is listed again and compared with the known objects. So no change is lost or recorded twice.
Times are taken at receipt, by the monotonic clock; a change that was received late is marked so.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import msgspec

from lockstep.errors import LockstepError
from lockstep.kube.client import (
    ALL_NS,
    FAILURES,
    UNREADABLE,
    AsyncClient,
    Deployment,
    Event,
    LeaderWorkerSet,
    Node,
    Pod,
    PodGroup,
    explain,
    status_of,
)
from lockstep.recording import facts
from lockstep.recording.model import (
    Change,
    Entry,
    Kind,
    Observation,
    WatchState,
    WatchStatus,
    version_number,
)
from lockstep.scenarios.pool import POOL_LABEL

ATTEMPTS = 5
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
CHUNK = 500

Emit = Callable[[Entry], None]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """One kind of object to watch."""

    kind: Kind
    resource: Any
    namespace: str | None = None
    labels: dict[str, Any] | None = None
    absent: str = ""
    """What is missing when the cluster does not have the kind; empty: the kind is required."""


def targets(namespace: str | None, pool: str | None) -> list[Target]:
    """The kinds to watch in a namespace (None: all of them) and a pool (None: every node)."""
    where = namespace or ALL_NS
    labels: dict[str, Any] | None = {POOL_LABEL: pool} if pool else None
    return [
        Target("node", Node, labels=labels),
        Target("podgroup", PodGroup, where, absent="Volcano is not installed"),
        Target("event", Event, where),
        Target("workload", LeaderWorkerSet, where, absent="LWS is not installed"),
        Target("workload", Deployment, where),
        # Last, so that everything that explains the pods is watched before them.
        Target("pod", Pod, where),
    ]


class KindWatch:
    """The watch of one kind; it knows the last state of each object, to compare lists with."""

    def __init__(self, client: AsyncClient, target: Target, emit: Emit, clock: Clock) -> None:
        self.target = target
        self._client = client
        self._emit = emit
        self._clock = clock
        self._version = ""
        self._late_until = 0
        self._known: dict[str, Observation] = {}

    async def list(self) -> None:
        """Emit all objects, or those that have changed since they were last known."""
        found = self._request(CHUNK)
        things = [thing async for thing in found]
        at = self._clock()  # one time for all, as the list is of one version
        before = dict(self._known)
        for thing in things:
            known = before.pop(thing["metadata"]["uid"], None)
            if known is None or known.version != thing["metadata"]["resourceVersion"]:
                self._emit_change(at, "ADDED" if known is None else "MODIFIED", thing, listed=True)
        for gone in before.values():
            self._emit_deletion(at, gone)
        self._version = found.resourceVersion

    def _request(self, chunk: int) -> Any:
        target = self.target
        return self._client.list(
            target.resource, namespace=target.namespace, labels=target.labels, chunk_size=chunk
        )

    async def follow(self) -> None:
        """Watch until cancelled, through every kind of interruption."""
        pause = FIRST_PAUSE
        cut: Exception | None = None
        while True:
            try:
                if cut is not None:
                    await self._recover(cut)
                    cut = None
                async for change, thing in self._client.watch(
                    self.target.resource,
                    namespace=self.target.namespace,
                    labels=self.target.labels,
                    resource_version=self._version,
                ):
                    pause = FIRST_PAUSE
                    self._receive(change, thing)
            except FAILURES as error:
                if cut is None:
                    cut = error
                    self._emit_status("cut", explain(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _recover(self, error: Exception) -> None:
        """Reconnect, then resume the watch, or list if the version is gone or was unreadable."""
        if status_of(error) == HTTPStatus.GONE or isinstance(error, UNREADABLE):
            await self.list()
            self._emit_status("relisted")
        else:
            self._late_until = await self._newest()
            self._emit_status("resumed")

    async def _newest(self) -> int:
        """Return the newest version: changes up to it happened while the watch was cut."""
        found = self._request(1)
        async for _ in found:
            break
        return version_number(found.resourceVersion)

    def _receive(self, change: str, thing: Any) -> None:
        metadata = thing["metadata"]
        self._version = metadata["resourceVersion"]
        known = self._known.get(metadata["uid"])
        if known is not None and known.version == self._version and change != "DELETED":
            return
        if change in ("ADDED", "MODIFIED", "DELETED"):
            kept: Change = change  # type: ignore[assignment]  # mypy does not narrow to literals
            late = version_number(self._version) <= self._late_until
            self._emit_change(self._clock(), kept, thing, listed=late)

    def _emit_change(self, at: float, change: Change, thing: Any, *, listed: bool) -> None:
        metadata = thing["metadata"]
        seen = Observation(
            at=at,
            kind=self.target.kind,
            change=change,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata["uid"],
            version=metadata["resourceVersion"],
            facts=facts.of(self.target.kind, thing),
            listed=listed,
        )
        if change == "DELETED":
            self._known.pop(seen.uid, None)
        else:
            self._known[seen.uid] = seen
        self._emit(seen)

    def _emit_deletion(self, at: float, gone: Observation) -> None:
        """Emit the deletion of an object that a list no longer has; its time is unknown."""
        del self._known[gone.uid]
        self._emit(msgspec.structs.replace(gone, at=at, change="DELETED", listed=True))

    def _emit_status(self, state: WatchState, detail: str = "") -> None:
        self._emit(WatchStatus(self._clock(), self.target.kind, state, detail))


class Recorder:
    """All watches of one recording."""

    def __init__(self, client: AsyncClient, targets: Sequence[Target], emit: Emit) -> None:
        self._client = client
        self._targets = targets
        self._emit = emit
        self.origin = time.monotonic()
        self.missing: dict[str, str] = {}
        """Kinds that cannot be watched in this cluster, and why."""
        self._watches: list[KindWatch] = []

    def now(self) -> float:
        """Seconds since the recording began."""
        return round(time.monotonic() - self.origin, 6)

    async def establish(self) -> None:
        """List every kind; every change after this is recorded."""
        for target in self._targets:
            watch = KindWatch(self._client, target, self._emit, self.now)
            if await self._list(watch):
                self._watches.append(watch)

    async def _list(self, watch: KindWatch) -> bool:
        """List a kind; return False for one that is optional and missing or forbidden."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await watch.list()
                return True
            except FAILURES as error:
                if reason := _reason_to_skip(watch.target, error):
                    self.missing[watch.target.kind] = reason
                    return False
                if attempt == ATTEMPTS or not _is_temporary(error):
                    message = f"cannot watch the cluster: {explain(error)}"
                    raise LockstepError(message) from error
            await asyncio.sleep(attempt * FIRST_PAUSE * 4)
        return False

    @property
    def watched(self) -> tuple[Kind, ...]:
        """Kinds that are watched."""
        return tuple(dict.fromkeys(watch.target.kind for watch in self._watches))

    async def follow(self) -> None:
        """Watch every kind until cancelled."""
        await asyncio.gather(*(watch.follow() for watch in self._watches))


def _reason_to_skip(target: Target, error: Exception) -> str:
    """Why a recording can do without a kind; empty if it cannot. Pods are always required."""
    status = status_of(error)
    if status == HTTPStatus.NOT_FOUND:
        return target.absent
    if status == HTTPStatus.FORBIDDEN and target.kind != "pod":
        return f"no permission to list {target.resource._api_info.plural}"
    return ""


def _is_temporary(error: Exception) -> bool:
    """Whether a busy or restarting API server may answer the same request soon."""
    status = status_of(error)
    return status is None or status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500
