"""What really happens to the gangs of a cluster, seen by the campaign's own observer.

The observer of the sabotage campaign watches one cluster. This one also notices that a cluster was
recreated, and knows when a fault explains that a gang could not be completed.
"""

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from lockstep.errors import LockstepError
from lockstep.local import embedded_cluster
from tests.sabotage.api import FAILURES, Api, Refused
from tests.sabotage.gangs import BURST, Facts, Group, Pod, groups
from tests.sabotage.truth import Seen, Truth

LOOK_SECONDS = 0.2
TOLERATED = BURST
"""Seconds for which a gang may be partly bound outside of an outage."""
NOT_GANGS = ("lockstep-leader-ready",)
"""Namespaces whose workload is meant to be bound one pod after the other."""

Interval = tuple[float, float]


@dataclass
class Life:
    """One cluster from its first pod on; a cluster that was recreated has another life."""

    identity: object
    api: Api
    truth: Truth
    system: str
    """The uid of the namespace kube-system."""


@dataclass
class Observer:
    """Watches the cluster of a name whenever there is one."""

    cluster: str
    lives: list[Life] = field(default_factory=list)
    outages: list[Interval] = field(default_factory=list)
    """When something that binds pods was killed, and when it worked again."""

    def start(self) -> None:
        """Look for the cluster from now on."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._over.set()
        self._thread.join()
        for life in self.lives:
            life.truth.stop()
            life.api.close()

    @property
    def life(self) -> Life | None:
        """The cluster that is there now, or was last."""
        return self.lives[-1] if self.lives else None

    @property
    def api(self) -> Api | None:
        """A connection to the cluster that is there now."""
        with contextlib.suppress(LockstepError, OSError):
            cluster = embedded_cluster.load(self.cluster)
            identity = (cluster.pki / "ca.crt").read_bytes()
            if self.life and self.life.identity == identity:
                return self.life.api
            if not self._young or self._young[0] != identity:
                self._young = (identity, Api(cluster))
            return self._young[1]
        return None

    _young: tuple[bytes, Api] | None = None

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with contextlib.suppress(LockstepError, *FAILURES, Refused):
                cluster = embedded_cluster.load(self.cluster)
                identity = (cluster.pki / "ca.crt").read_bytes()
                if not self.life or self.life.identity != identity:
                    self._begin(identity, Api(cluster))

    def _begin(self, identity: object, api: Api) -> None:
        truth = Truth(api, "")  # of all namespaces
        try:
            system = str(api.get("Namespace", "kube-system")["metadata"]["uid"])
            truth.start()  # refused as long as there are no PodGroups, and so no gangs
        except BaseException:
            api.close()
            raise
        if self.life:
            self.life.truth.stop()
        self.lives.append(Life(identity, api, truth, system))

    def torn(self, since: float) -> list[tuple[str, float]]:
        """Every gang that was partly bound after a time, and for how many seconds for certain.

        It is counted from the first bind to the moment when all were bound, or when one ended. Not
        counted is the time in which the fault made a bind impossible, which is while the API
        server, its etcd or Volcano's scheduler was killed and did not answer yet, and the time for
        which the observer itself saw nothing.
        """
        now, found = time.monotonic(), []
        for life in self.lives:
            for group in gangs(life.truth):
                stretch = group.shortest_binding(life.truth, now)
                if stretch and stretch[0] >= since:
                    hidden = [*self.outages, *life.truth.blind]
                    found.append((group.key, uncovered(stretch, hidden)))
        return found

    def contradictions(self, expectation: Any, namespace: str, since: float) -> list[str]:
        """What makes an ok verdict on a namespace false."""
        if self.life is None:
            return ["there is no cluster"]
        view = in_namespace(self.life.truth, namespace)
        return Facts(view, expectation, time.monotonic()).contradictions(since)

    def uids(self, namespace: str) -> set[str]:
        """The pods of a namespace that exist."""
        if self.life is None:
            return set()
        return {one.uid for one in in_namespace(self.life.truth, namespace).latest()}

    def partial(self, namespace: str) -> list[str]:
        """The gangs of a namespace that are not completely bound now."""
        if self.life is None:
            return []
        found = []
        for group in gangs(in_namespace(self.life.truth, namespace)):
            here = [pod for pod in group.pods if not pod.gone]
            bound = [pod for pod in here if pod.bound]
            if here and len(bound) != group.size:
                found.append(f"{group.key}: {len(bound)} of {group.size} bound")
        return found


def uncovered(stretch: Interval, hidden: list[Interval]) -> float:
    """The seconds of an interval that no other interval covers."""
    start, end = stretch
    left = 0.0
    for lost, back in sorted(hidden):
        left += max(0.0, min(lost, end) - start)
        start = max(start, min(back, end))
    return left + max(0.0, end - start)


def in_namespace(truth: Truth, namespace: str) -> Truth:
    """What was observed in one namespace."""
    seen = {
        kind: [one for one in list(changes) if one.thing["metadata"].get("namespace") == namespace]
        for kind, changes in truth.seen.items()
    }
    return Truth(truth.api, namespace, seen, list(truth.blind), answers=list(truth.answers))


def gangs(truth: Truth) -> list[Group]:
    """The gangs of all namespaces: groups of LWS that Volcano schedules."""
    stories: dict[str, list[Seen]] = {}
    for one in list(truth.pods):
        stories.setdefault(one.uid, []).append(one)
    by_namespace: dict[str, list[Pod]] = {}
    for pod in map(Pod, stories.values()):
        thing = pod.first.thing
        namespace = str(thing["metadata"]["namespace"])
        is_gang = pod.label("name") and thing["spec"].get("schedulerName") == "volcano"
        if is_gang and namespace not in NOT_GANGS:
            by_namespace.setdefault(namespace, []).append(pod)
    return [one for pods in by_namespace.values() for one in groups(pods, 0) if one.size]
