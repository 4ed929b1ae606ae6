"""What a sabotage may use: the cluster, the round's objects and processes, and random numbers."""

import contextlib
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.sabotage.api import Api, Thing
from tests.sabotage.cluster import Cluster, patiently
from tests.sabotage.gangs import Facts, Pod
from tests.sabotage.proxy import Proxy
from tests.sabotage.truth import Seen, Truth
from tests.sabotage.workload import Update

TARGET_WITHIN = 4.0


class Missed(Exception):  # noqa: N818  # a sabotage may find nothing to sabotage
    """There was nothing to strike: the round proves nothing about this sabotage."""


@dataclass
class Field:
    """One round as its sabotage sees it."""

    cluster: Cluster
    update: Update
    """The update that is judged after the strike."""
    truth: Truth
    proxy: Proxy
    """Between the recorder and the API server."""
    clock: Path
    """The file that moves the recorder's wall clock."""
    recording: Path
    rng: random.Random
    undo: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """What ends the sabotage."""
    changes: list[Callable[[Thing], None]] = field(default_factory=list)
    """Changes of the objects of the workload before they are created."""
    records_again: bool = True
    """Whether the second update starts a recorder before it judges."""
    is_applied: bool = False
    """Whether the workload exists."""

    @property
    def api(self) -> Api:
        """The API server."""
        return self.cluster.api

    @property
    def namespace(self) -> str:
        """The namespace of the round."""
        return self.truth.namespace

    def pods(self) -> list[Pod]:
        """The pods of the workload that exist."""
        facts = Facts(self.truth, self.update.expectation, time.monotonic())
        return [pod for pod in facts.pods() if pod.gone is None]

    def pod(self, wanted: Callable[[Pod], bool] = lambda _: True) -> Pod:
        """A pod of the workload at random."""

        def found() -> list[Pod]:
            return [pod for pod in self.pods() if wanted(pod)]

        self.truth.await_(lambda: bool(found()), TARGET_WITHIN)
        pods = sorted(found(), key=lambda pod: pod.first.name)
        if not pods:
            raise Missed("no such pod")
        return self.rng.choice(pods)

    def pod_group(self) -> Seen:
        """A PodGroup that exists, at random."""

        def found() -> list[Seen]:
            last = {one.uid: one for one in self.truth.seen["PodGroup"]}
            return [one for one in last.values() if not one.is_gone]

        self.truth.await_(lambda: bool(found()), TARGET_WITHIN)
        groups = sorted(found(), key=lambda one: one.name)
        if not groups:
            raise Missed("no PodGroup")
        return self.rng.choice(groups)

    def node(self) -> str:
        """A worker of the round at random; one without a taint if there is one."""
        names = [str(node["metadata"]["name"]) for node in self.update.nodes]
        free = [name for name in names if not self.update.taints.get(name)]
        return self.rng.choice(free or names)

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something after a time, in the background; at the latest when the round ends."""
        once = threading.Lock()

        def act() -> None:
            if once.acquire(blocking=False):
                patiently(action)

        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()

        def finish() -> None:
            timer.cancel()
            act()

        self.undo.callback(finish)
