"""Groups that come and go while no update runs."""

import contextlib
import random
import threading
import time

from lockstep.wait import wait_until
from tests.faults.observer import Observer
from tests.sabotage.api import FAILURES, Api, Refused
from tests.sabotage.cluster import await_collector, patiently
from tests.sabotage.workload import Update

WHOLE_WITHIN = 60.0
"""Seconds until all groups are complete again. After a restart of the API server, the garbage
collector may not know PodGroups until it has asked for all kinds again, which it does twice a
minute; a group whose leader was deleted cannot be recreated before.
"""
HELPED_AFTER = 20.0
"""Seconds until a group is helped that has lost its PodGroup."""
NAME, MOST = "churn", 3
_LEADERS = "leaderworkerset.sigs.k8s.io/worker-index=0"
_GROUP_NAME = "scheduling.k8s.io/group-name"


class Churn:
    """A LeaderWorkerSet with workers of its own that is scaled and loses leaders all the time."""

    def __init__(self, update: Update, cluster: str, api: Api, rng: random.Random) -> None:
        self._update = update.renamed(cluster, NAME)
        self._api, self._rng = api, rng
        self.lost_pod_groups = 0
        """How many groups have lost their PodGroup, and waited as a whole (lws#1054)."""
        self.namespace = str(self._update.namespace["metadata"]["name"])
        (self._set,) = (
            one["metadata"]["name"]
            for one in self._update.workload
            if one["kind"] == "LeaderWorkerSet"
        )

    def start(self) -> None:
        """Create the groups, and change them from now on."""
        await_collector(self._api)
        for thing in (self._update.namespace, *self._update.nodes, *self._update.workload):
            self._api.apply(thing)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over.wait(self._rng.uniform(0.2, 1.0)):
            with contextlib.suppress(*FAILURES, Refused):  # the fault may hit any of this
                if self._rng.random() < 0.5:
                    self._scale(self._rng.randint(1, MOST))
                else:
                    self._lose_a_leader()

    def _scale(self, groups: int) -> None:
        change = {"spec": {"replicas": groups}}
        self._api.merge("LeaderWorkerSet", self._set, change, self.namespace)

    def _lose_a_leader(self) -> None:
        if leaders := self._api.items("Pod", self.namespace, _LEADERS):
            self._api.delete("Pod", self._rng.choice(leaders)["metadata"]["name"], self.namespace)

    def stop(self) -> None:
        """Leave the groups alone."""
        self._over.set()
        self._thread.join()

    def unsettled(self, observer: Observer) -> list[str]:
        """Wait until all groups that are wanted are completely bound; else say what is wrong."""
        patiently(lambda: self._scale(MOST))
        size = int(self._update.expectation["size"])
        started, is_helped = time.monotonic(), False
        deadline = started + WHOLE_WITHIN
        while True:
            bound = len(
                [
                    one
                    for one in self._api.items("Pod", self.namespace)
                    if one["spec"].get("nodeName") and "deletionTimestamp" not in one["metadata"]
                ]
            )
            wrong = observer.partial(self.namespace)
            if bound == MOST * size and not wrong:
                return []
            if time.monotonic() > started + HELPED_AFTER and not is_helped:
                is_helped = True
                self._help()
            if time.monotonic() > deadline:
                where = "; ".join([*wrong, *self._described()])
                return [
                    f"after {WHOLE_WITHIN:.0f} s {bound} of {MOST * size} pods are bound {where}"
                ]
            time.sleep(0.2)

    def _help(self) -> None:
        """Delete the leaders of groups that have lost their PodGroup, and so cannot be scheduled.

        A group that is recreated before the garbage collector has deleted the PodGroup of the group
        before takes that PodGroup for its own (lws#1054). None of its pods is bound, and only
        another new group gets a PodGroup. The collector is late after an API server's restart.
        """
        for pod in self._api.items("Pod", self.namespace, _LEADERS):
            name = (pod["metadata"].get("annotations") or {}).get(_GROUP_NAME, "")
            is_lost = self._api.find("PodGroup", name, self.namespace) is None
            if is_lost and not pod["spec"].get("nodeName"):
                self.lost_pod_groups += 1
                self._api.delete("Pod", pod["metadata"]["name"], self.namespace)

    def _described(self) -> list[str]:
        """The pods that are not bound, or are being deleted."""
        return [
            f"{pod['metadata']['name']} on {pod['spec'].get('nodeName')}, "
            f"{pod['status'].get('phase')}, deleted {pod['metadata'].get('deletionTimestamp')}"
            for pod in self._api.items("Pod", self.namespace)
            if not pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]
        ]

    def remove(self) -> None:
        """Delete the groups and their workers."""
        api = self._api
        for thing in reversed(self._update.workload):
            metadata = thing["metadata"]
            api.delete(str(thing["kind"]), metadata["name"], metadata.get("namespace"))
        wait_until("no pods", lambda: not api.items("Pod", self.namespace), WHOLE_WITHIN, pause=0.2)
        api.delete("Namespace", self.namespace)
        for node in self._update.nodes:
            api.delete("Node", str(node["metadata"]["name"]))
