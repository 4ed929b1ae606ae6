"""The recorder: follows everything that concerns a scenario, and misses nothing.

Each kind is listed once, then watched from the list's version. A watch that breaks is resumed from
the last version seen; where the API server has forgotten that version (410 Gone), the kind is
listed again and compared with what is known. So no change is lost, and none is told twice. Times
are taken at receipt, by the monotonic clock; what was told late is marked as such.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.recording import facts
from lockstep.recording.model import (
    Change,
    Entry,
    Kind,
    Observation,
    WatchState,
    WatchStatus,
)
from lockstep.scenarios.pool import POOL_LABEL

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
CHUNK = 500

Emit = Callable[[Entry], None]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Target:
    """One kind of object to follow."""

    kind: Kind
    resource: Any
    namespace: str | None = None
    labels: dict[str, Any] | None = None
    absent: str = ""
    """What it means when the cluster does not know the kind; empty: that is an error."""


def targets(namespace: str | None, pool: str | None) -> list[Target]:
    """Everything that concerns a namespace (None: all of them) and a pool (None: every node)."""
    where = namespace or kube.ALL_NS
    labels: dict[str, Any] | None = {POOL_LABEL: pool} if pool else None
    return [
        Target("node", kube.Node, labels=labels),
        Target("podgroup", kube.PodGroup, where, absent="Volcano is not installed"),
        Target("event", kube.Event, where),
        Target("workload", kube.LeaderWorkerSet, where, absent="LWS is not installed"),
        Target("workload", kube.Deployment, where),
        # Last: when pods are listed, all that explains them is being watched already.
        Target("pod", kube.Pod, where),
    ]


class Follower:
    """Follows one kind; remembers the last state of each object, to tell what a list changed."""

    def __init__(self, client: kube.AsyncClient, target: Target, emit: Emit, clock: Clock) -> None:
        self.target = target
        self._client = client
        self._emit = emit
        self._clock = clock
        self._version = ""
        self._late_until = 0
        self._known: dict[str, Observation] = {}

    async def list(self) -> None:
        """Tell what is there, or what has changed since it was last known."""
        target = self.target
        found = self._client.list(
            target.resource, namespace=target.namespace, labels=target.labels, chunk_size=CHUNK
        )
        things = [thing async for thing in found]
        at = self._clock()  # one time for all: they were so together
        before = dict(self._known)
        for thing in things:
            known = before.pop(thing["metadata"]["uid"], None)
            if known is None or known.version != thing["metadata"]["resourceVersion"]:
                self._tell(at, "ADDED" if known is None else "MODIFIED", thing, listed=True)
        for gone in before.values():
            self._forget(at, gone)
        self._version = found.resourceVersion

    async def follow(self) -> None:
        """Watch for ever, through every kind of interruption."""
        pause = FIRST_PAUSE
        while True:
            try:
                async for change, thing in self._client.watch(
                    self.target.resource,
                    namespace=self.target.namespace,
                    labels=self.target.labels,
                    resource_version=self._version,
                ):
                    pause = FIRST_PAUSE
                    self._receive(change, thing)
            except kube.FAILURES as error:
                self._tell_state("cut", kube.explain(error))
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
                await self._recover(error)

    async def _recover(self, error: Exception) -> None:
        """Get in touch again, then resume, or relist if that version is gone or unreadable."""
        pause = FIRST_PAUSE
        resumable = kube.status_of(error) != HTTPStatus.GONE and not isinstance(error, ValueError)
        while True:
            try:
                if resumable:
                    self._late_until = await self._newest()
                    self._tell_state("resumed")
                else:
                    await self.list()
                    self._tell_state("relisted")
                return
            except kube.FAILURES:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    async def _newest(self) -> int:
        """Ask for the newest version: what the watch tells up to it happened while it was cut."""
        target = self.target
        found = self._client.list(
            target.resource, namespace=target.namespace, labels=target.labels, chunk_size=1
        )
        async for _ in found:
            break
        return _number(found.resourceVersion)

    def _receive(self, change: str, thing: Any) -> None:
        metadata = thing["metadata"]
        self._version = metadata["resourceVersion"]
        known = self._known.get(metadata["uid"])
        if known is not None and known.version == self._version and change != "DELETED":
            return
        if change in ("ADDED", "MODIFIED", "DELETED"):
            kept: Change = change  # type: ignore[assignment]  # mypy does not narrow to literals
            late = _number(self._version) <= self._late_until
            self._tell(self._clock(), kept, thing, listed=late)

    def _tell(self, at: float, change: Change, thing: Any, *, listed: bool) -> None:
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

    def _forget(self, at: float, gone: Observation) -> None:
        """Tell of an object that a list no longer has; nobody saw it go."""
        del self._known[gone.uid]
        self._emit(
            Observation(
                at=at,
                kind=gone.kind,
                change="DELETED",
                namespace=gone.namespace,
                name=gone.name,
                uid=gone.uid,
                version=gone.version,
                facts=gone.facts,
                listed=True,
            )
        )

    def _tell_state(self, state: WatchState, detail: str = "") -> None:
        self._emit(WatchStatus(self._clock(), self.target.kind, state, detail))


def _number(version: str) -> int:
    """Read a version as the number that it is in every API server so far."""
    return int(version) if version.isdigit() else 0


class Recorder:
    """All the watches of one recording."""

    def __init__(self, client: kube.AsyncClient, aims: Sequence[Target], emit: Emit) -> None:
        self._client = client
        self._aims = aims
        self._emit = emit
        self.origin = time.monotonic()
        self.missing: dict[str, str] = {}
        """Kinds that cannot be followed here, and why."""
        self._followers: list[Follower] = []

    def now(self) -> float:
        """Seconds since the recording began."""
        return round(time.monotonic() - self.origin, 6)

    async def establish(self) -> None:
        """List every kind; from here on nothing is missed."""
        for aim in self._aims:
            follower = Follower(self._client, aim, self._emit, self.now)
            try:
                await follower.list()
            except kube.FAILURES as error:
                self._accept(aim, error)
            else:
                self._followers.append(follower)

    def _accept(self, aim: Target, error: Exception) -> None:
        """Do without a kind that is not there or not ours to see; but never without pods."""
        status = kube.status_of(error)
        if status == HTTPStatus.NOT_FOUND and aim.absent:
            self.missing[aim.kind] = aim.absent
        elif status == HTTPStatus.FORBIDDEN and aim.kind != "pod":
            self.missing[aim.kind] = "the kubeconfig's user may not list them"
        else:
            raise LockstepError(f"cannot watch the cluster: {kube.explain(error)}") from error

    @property
    def watched(self) -> tuple[Kind, ...]:
        """Kinds that are followed."""
        return tuple(dict.fromkeys(follower.target.kind for follower in self._followers))

    async def follow(self) -> None:
        """Watch every kind until cancelled."""
        await asyncio.gather(*(follower.follow() for follower in self._followers))
