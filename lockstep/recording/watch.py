"""The watches of a recording: every object that concerns a scenario, without gaps.

Each kind is listed once, then watched from the list's resourceVersion. A watch that breaks is
resumed from the last version seen; where the API server has forgotten that version (410 Gone), the
kind is listed again and compared with the known objects. So no change is lost or recorded twice.
Times are taken at receipt, by the monotonic clock.

A silent watch is no proof that nothing happened: the API server may deliver late, or the
connection may be dead. So every kind is listed again and again, and the recording is complete until
the time before such lists once the watches have delivered everything that was in them. Each change
is marked with how late it may be: it is newer than every list whose resourceVersion is smaller than
its own, so it happened after that list was asked for.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

import msgspec

from lockstep.errors import LockstepError
from lockstep.kube.client import (
    ALL_NS,
    FAILURES,
    UNREADABLE,
    AsyncClient,
    Definition,
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
from lockstep.recording.client import LocalScheduler
from lockstep.recording.model import (
    Change,
    Entry,
    Kind,
    Observation,
    Tick,
    WatchState,
    WatchStatus,
    version_number,
)
from lockstep.recording.scheduler import SchedulerProbe
from lockstep.scenarios.pool import POOL_LABEL

ATTEMPTS = 5
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
CHUNK = 500
CONFIRM_PAUSE = 0.1
"""Seconds between two confirmations."""
OBJECT_PAUSE = 0.0005
"""More seconds for each listed object, so that long lists do not occupy the API server."""
CONFIRM_TIMEOUT = 10.0
"""Seconds that the lists of a confirmation may take."""
STALLED = 5.0
"""Seconds after which a watch that has not delivered what a list had is opened again."""

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
    confirmed: bool = True
    """Whether the recording is complete only when this kind is. Events are not confirmed: there
    are many, and no verdict rests on the absence of an event."""


def targets(namespace: str | None, pool: str | None) -> list[Target]:
    """The kinds to watch in a namespace (None: all of them) and a pool (None: every node)."""
    where = namespace or ALL_NS
    labels: dict[str, Any] | None = {POOL_LABEL: pool} if pool else None
    return [
        Target("node", Node, labels=labels),
        Target("podgroup", PodGroup, where, absent="Volcano is not installed"),
        Target("event", Event, where, confirmed=False),
        Target("workload", LeaderWorkerSet, where, absent="LWS is not installed"),
        Target("workload", Deployment, where),
        # Last, so that everything that explains the pods is watched before them.
        Target("pod", Pod, where),
    ]


class Lists:
    """The resourceVersions of the lists that were answered, and when each list was asked for."""

    def __init__(self) -> None:
        self._asked: deque[tuple[int, float]] = deque(maxlen=5000)

    def add(self, version: int, at: float) -> None:
        """Note that a list that was asked for at a time had a version of that time or newer."""
        self._asked.append((version, at))

    def before(self, version: int) -> float:
        """The last known time at which a version did not exist yet."""
        return next((at for known, at in reversed(self._asked) if known < version), 0.0)


class KindWatch:
    """The watch of one kind; it knows the last state of each object, to compare lists with."""

    def __init__(
        self,
        client: AsyncClient,
        target: Target,
        emit: Emit,
        clock: Clock,
        lists: Lists,
    ) -> None:
        self.target = target
        self._client = client
        self._emit = emit
        self._clock = clock
        self._lists = lists
        self._version = ""
        self._late_until = 0
        self._known: dict[str, Observation] = {}
        self._deleted: dict[str, int] = {}
        """Versions of the deletions: a node comes back when its pool's label does."""
        self._listed = False
        self._news = asyncio.Event()
        self._pause = FIRST_PAUSE
        self._stream: asyncio.Task[None] | None = None
        self._stalled = False

    async def list(self) -> None:
        """Emit all objects, or those that have changed since they were last known."""
        began = self._clock()
        found = self._request(CHUNK)
        things = [thing async for thing in found]
        self._lists.add(version_number(found.resourceVersion), began)
        at = self._clock()  # one time for all, as the list is of one version
        before = dict(self._known)
        for thing in things:
            known = before.pop(thing["metadata"]["uid"], None)
            if known is None or known.version != thing["metadata"]["resourceVersion"]:
                self._emit_change(at, "ADDED" if known is None else "MODIFIED", thing, listed=True)
        for gone in before.values():
            self._emit_deletion(at, gone, version_number(found.resourceVersion))
        self._version = found.resourceVersion
        self._listed = True

    async def catch_up(self) -> int:
        """List the kind and wait until the watch has delivered everything that is in the list.

        Return the number of objects.
        """
        began = self._clock()
        async with asyncio.timeout(CONFIRM_TIMEOUT):
            found = self._request(CHUNK)
            versions = {
                thing["metadata"]["uid"]: version_number(thing["metadata"]["resourceVersion"])
                async for thing in found
            }
        latest = version_number(found.resourceVersion)
        self._lists.add(latest, began)
        try:
            async with asyncio.timeout(STALLED):
                while self._is_behind(versions, latest):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            self._open_again()
            raise
        return len(versions)

    def _is_behind(self, versions: Mapping[str, int], latest: int) -> bool:
        """Whether a list has an object, a change or a deletion that was not delivered yet."""
        for uid, version in versions.items():
            known = self._known.get(uid)
            told = version_number(known.version) if known else self._deleted.get(uid, -1)
            if told < version:
                return True
        return any(
            uid not in versions and version_number(known.version) <= latest
            for uid, known in self._known.items()
        )

    def _open_again(self) -> None:
        """End the stream of a watch that delivers nothing, so that `follow` reconnects."""
        if self._stream is not None and not self._stream.done():
            self._stalled = True
            self._stream.cancel()

    def _request(self, chunk: int) -> Any:
        target = self.target
        return self._client.list(
            target.resource, namespace=target.namespace, labels=target.labels, chunk_size=chunk
        )

    async def follow(self) -> None:
        """Watch until cancelled, through every kind of interruption."""
        cut: Exception | None = None
        while True:
            try:
                if cut is not None:
                    await self._recover(cut)
                    cut = None
                self._stream = asyncio.create_task(self._read())
                await self._stream
            except asyncio.CancelledError:
                if not self._stalled:
                    raise
                self._stalled = False
                cut = TimeoutError(f"the watch delivered nothing for {STALLED:g} s")
                self._emit_status("cut", str(cut))
            except FAILURES as error:
                if cut is None:
                    cut = error
                    self._emit_status("cut", explain(error))
                await asyncio.sleep(self._pause)
                self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _read(self) -> None:
        """Receive changes until the watch breaks."""
        async for change, thing in self._client.watch(
            self.target.resource,
            namespace=self.target.namespace,
            labels=self.target.labels,
            resource_version=self._version,
        ):
            self._pause = FIRST_PAUSE
            self._receive(change, thing)

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
        version = thing["metadata"]["resourceVersion"]
        known = self._known.get(thing["metadata"]["uid"])
        is_news = known is None or known.version != version or change == "DELETED"
        if is_news and change in ("ADDED", "MODIFIED", "DELETED"):
            kept: Change = change  # type: ignore[assignment]  # mypy does not narrow to literals
            late = version_number(version) <= self._late_until
            self._emit_change(self._clock(), kept, thing, listed=late)
        self._version = version

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
            late=self._late(at, metadata["resourceVersion"]) if self._listed else None,
        )
        self._emit(seen)
        if change == "DELETED":
            self._known.pop(seen.uid, None)
            self._deleted[seen.uid] = version_number(seen.version)
        else:
            self._known[seen.uid] = seen
        self._news.set()

    def _late(self, at: float, version: str) -> float:
        """How many seconds before `at` a change to a version can have happened."""
        return round(max(0.0, at - self._lists.before(version_number(version))), 6)

    def _emit_deletion(self, at: float, gone: Observation, version: int) -> None:
        """Emit the deletion of an object that a list of a version no longer has.

        The time of the deletion is unknown.
        """
        late = self._late(at, gone.version)
        self._emit(msgspec.structs.replace(gone, at=at, change="DELETED", listed=True, late=late))
        del self._known[gone.uid]
        self._deleted[gone.uid] = version
        self._news.set()

    def _emit_status(self, state: WatchState, detail: str = "") -> None:
        self._emit(WatchStatus(self._clock(), self.target.kind, state, detail))


class Recorder:
    """All watches of one recording."""

    def __init__(
        self,
        client: AsyncClient,
        targets: Sequence[Target],
        emit: Emit,
        scheduler: LocalScheduler | Literal["pods"] | None = None,
    ) -> None:
        """Watch some kinds and, unless it is None, the scheduler of this machine or in pods."""
        self._client = client
        self._targets = targets
        self._emit = emit
        self._scheduler = scheduler
        self.origin = time.monotonic()
        self.missing: dict[str, str] = {}
        """Kinds that cannot be watched in this cluster, and why."""
        self._lists = Lists()
        self._probe: SchedulerProbe | None = None
        self._watches: list[KindWatch] = []

    def now(self) -> float:
        """Seconds since the recording began."""
        return round(time.monotonic() - self.origin, 6)

    async def establish(self) -> None:
        """List every kind, and ask the scheduler; every change after this is recorded."""
        for target in self._targets:
            watch = KindWatch(self._client, target, self._emit, self.now, self._lists)
            if await self._list(watch):
                self._watches.append(watch)
        if self._scheduler is not None and "podgroup" not in self.missing:
            local = None if self._scheduler == "pods" else self._scheduler
            self._probe = SchedulerProbe(self._client, local, self._emit, self.now)
            await self._probe.establish()

    async def _list(self, watch: KindWatch) -> bool:
        """List a kind; return False for one that is optional and missing or forbidden."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                await watch.list()
                return True
            except FAILURES as error:
                may_recover = attempt < ATTEMPTS and (
                    _is_temporary(error) or await self._is_defined(watch.target, error)
                )
                if not may_recover:
                    if reason := _reason_to_skip(watch.target, error):
                        self.missing[watch.target.kind] = reason
                        return False
                    message = f"cannot watch the cluster: {explain(error)}"
                    raise LockstepError(message) from error
            await asyncio.sleep(attempt * FIRST_PAUSE * 4)
        return False

    async def _is_defined(self, target: Target, error: Exception) -> bool:
        """Whether a kind that was not found has a definition: the API server will serve it soon."""
        if status_of(error) != HTTPStatus.NOT_FOUND:
            return False
        info = target.resource._api_info
        try:
            await self._client.get(Definition, f"{info.plural}.{info.resource.group}")
        except FAILURES:
            return False
        return True

    @property
    def watched(self) -> tuple[Kind, ...]:
        """Kinds that are watched."""
        return tuple(dict.fromkeys(watch.target.kind for watch in self._watches))

    async def follow(self) -> None:
        """Watch every kind until cancelled, and confirm again and again that nothing is missing."""
        tasks = [self._keep_confirming(), *(watch.follow() for watch in self._watches)]
        if self._probe:
            tasks.append(self._probe.follow())
        await asyncio.gather(*tasks)

    async def _keep_confirming(self) -> None:
        while True:
            listed = await self.confirm() or 0
            await asyncio.sleep(CONFIRM_PAUSE + OBJECT_PAUSE * listed)

    async def confirm(self) -> int | None:
        """Compare the watches with new lists; if they agree, emit a tick.

        Return the number of listed objects; None if the API server did not confirm the recording.
        """
        began = self.now()
        answers = await asyncio.gather(
            *(watch.catch_up() for watch in self._watches if watch.target.confirmed),
            return_exceptions=True,
        )
        errors = [answer for answer in answers if isinstance(answer, BaseException)]
        for error in errors:
            if not isinstance(error, (*FAILURES, TimeoutError)):
                raise error
        if errors:
            return None
        self._emit(Tick(began))
        return sum(answer for answer in answers if isinstance(answer, int))


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
