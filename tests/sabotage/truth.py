"""The campaign's own observer: what really happened in a namespace, straight from the API server.

It shares no code with the recorder. It notes every change of pods and PodGroups with its version,
which is one order over all kinds. On a loaded machine the observer itself receives changes late, so
it also asks for the newest version again and again: a change happened after each question that was
answered with an older version, and before each answer with a newer one.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx2

from tests.sabotage.api import FAILURES, Api, Refused, Thing

ASK_SECONDS = 0.1


@dataclass(frozen=True)
class Seen:
    """One change of an object."""

    at: float
    version: int
    deleted: bool
    thing: Thing

    @property
    def uid(self) -> str:
        """The object's uid."""
        return str(self.thing["metadata"]["uid"])

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.thing["metadata"]["name"])

    @property
    def node(self) -> str | None:
        """The node that a pod is bound to."""
        return self.thing["spec"].get("nodeName") or None

    @property
    def is_refused(self) -> bool:
        """Whether a scheduler has refused a pod."""
        conditions = self.thing.get("status", {}).get("conditions") or ()
        return any(one["type"] == "PodScheduled" and one["status"] == "False" for one in conditions)

    @property
    def is_gone(self) -> bool:
        """Whether a pod is deleted or terminating, so that it no longer counts."""
        return self.deleted or "deletionTimestamp" in self.thing["metadata"]


@dataclass
class Truth:
    """What has been observed; `changed` is notified after every change."""

    api: Api
    namespace: str
    seen: dict[str, list[Seen]] = field(default_factory=lambda: {"Pod": [], "PodGroup": []})
    blind: list[tuple[float, float]] = field(default_factory=list)
    """When the API server did not answer: changes in between were received late."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    answers: list[tuple[float, float, int]] = field(default_factory=list)
    """When the newest version was asked for, when the answer came, and the version."""

    def happened(self, one: "Seen") -> tuple[float, float]:
        """Between which times a change happened."""
        older = [asked for asked, _, version in self.answers if version < one.version]
        newer = [got for _, got, version in self.answers if version >= one.version]
        return max(older, default=0.0), min([one.at, *newer])

    def start(self) -> None:
        """Watch from now on; the namespace must be empty."""
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, args=(kind,), daemon=True) for kind in self.seen
        ]
        self._threads.append(threading.Thread(target=self._ask, daemon=True))
        self._versions = {
            kind: str(self.api.listed(kind, self.namespace)["metadata"]["resourceVersion"])
            for kind in self.seen
        }
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop watching, after what has happened so far was received."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def await_(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Wait until something has been seen; False after a timeout."""
        with self.changed:
            return self.changed.wait_for(reached, seconds)

    @property
    def pods(self) -> list[Seen]:
        """Every change of a pod."""
        return self.seen["Pod"]

    def latest(self) -> list[Seen]:
        """The last state of each pod that exists."""
        last = {one.uid: one for one in self.pods}
        return [one for one in last.values() if not one.is_gone]

    def _ask(self) -> None:
        while not self._over.is_set():
            asked = time.monotonic()
            with contextlib.suppress(*FAILURES, Refused):
                listed = self.api.listed("PodGroup", self.namespace)
                version = int(listed["metadata"]["resourceVersion"])
                self.answers.append((asked, time.monotonic(), version))
            time.sleep(ASK_SECONDS)

    def _watch(self, kind: str) -> None:
        lost: float | None = None
        is_old = False
        while not self._over.is_set():
            try:
                if is_old:
                    self._list(kind, lost)
                    lost, is_old = None, False
                for change, thing in self.api.watch(kind, self.namespace, self._versions[kind]):
                    self._take(kind, change, thing, lost)
                    lost = None
                    if self._over.is_set():
                        return  # changes may go on for ever
            except httpx2.ReadTimeout:
                lost = None  # nothing happened for a while, or the API server hangs
            except (*FAILURES, Refused) as error:
                lost = lost or time.monotonic()
                # An API server that was restarted may not know the version any more.
                is_old = is_old or getattr(error, "status", 0) == HTTPStatus.GONE
                time.sleep(0.05)

    def _list(self, kind: str, lost: float | None) -> None:
        """Take what has changed while no watch was possible."""
        listed = self.api.listed(kind, self.namespace)
        version = str(listed["metadata"]["resourceVersion"])
        known = {one.uid: one for one in self.seen[kind]}
        for thing in listed["items"]:
            before = known.pop(str(thing["metadata"]["uid"]), None)
            if before is None or str(before.version) != thing["metadata"]["resourceVersion"]:
                self._take(kind, "MODIFIED", thing, lost)
        for one in known.values():
            if not one.deleted:
                metadata = {**one.thing["metadata"], "resourceVersion": version}
                self._take(kind, "DELETED", {**one.thing, "metadata": metadata}, lost)
        self._versions[kind] = version

    def _take(self, kind: str, change: str, thing: Thing, lost: float | None) -> None:
        version = str(thing["metadata"]["resourceVersion"])
        at = time.monotonic()
        with self.changed:
            if lost is not None:
                self.blind.append((lost, at))
            self._versions[kind] = version
            self.seen[kind].append(Seen(at, int(version), change == "DELETED", thing))
            self.changed.notify_all()
