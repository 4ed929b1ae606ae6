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
NAME, MOST = "churn", 3


class Churn:
    """A LeaderWorkerSet with workers of its own that is scaled and loses leaders all the time."""

    def __init__(self, update: Update, cluster: str, api: Api, rng: random.Random) -> None:
        self._update = update.renamed(cluster, NAME)
        self._api, self._rng = api, rng
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
        label = "leaderworkerset.sigs.k8s.io/worker-index=0"
        if leaders := self._api.items("Pod", self.namespace, label):
            self._api.delete("Pod", self._rng.choice(leaders)["metadata"]["name"], self.namespace)

    def stop(self) -> None:
        """Leave the groups alone."""
        self._over.set()
        self._thread.join()

    def unsettled(self, observer: Observer) -> list[str]:
        """Wait until all groups that are wanted are completely bound; else say what is wrong."""
        patiently(lambda: self._scale(MOST))
        size = int(self._update.expectation["size"])
        deadline = time.monotonic() + WHOLE_WITHIN
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
            if time.monotonic() > deadline:
                where = "; ".join([*wrong, *self._described()])
                return [
                    f"after {WHOLE_WITHIN:.0f} s {bound} of {MOST * size} pods are bound {where}"
                ]
            time.sleep(0.2)

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
