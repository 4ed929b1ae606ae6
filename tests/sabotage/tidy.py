"""Remove what a round left in its cluster."""

import shutil
import time

import psutil

from lockstep import processes
from tests.sabotage.cluster import Cluster
from tests.sabotage.workload import Update

PODS_GONE_WITHIN = 15.0


def after_round(cluster: Cluster, update: Update) -> None:
    """End the recorder, restore the platform, and remove the round's objects."""
    mine = processes.of_cluster(cluster.folder)
    recorders = [process for process in mine if "--serve" in _words(process)]
    processes.end(recorders, cluster.name)
    shutil.rmtree(cluster.folder / "recordings", ignore_errors=True)
    cluster.restore()
    _remove(cluster, update, str(update.namespace["metadata"]["name"]))


def _remove(cluster: Cluster, update: Update, namespace: str) -> None:
    """Remove objects; nodes come last, as pods on missing nodes are deleted late."""
    api = cluster.api
    for thing in reversed(update.workload):
        metadata = thing["metadata"]
        api.delete(str(thing["kind"]), metadata["name"], metadata.get("namespace"))
    deadline = time.monotonic() + PODS_GONE_WITHIN
    while pods := api.items("Pod", namespace):
        for pod in pods:
            api.delete("Pod", pod["metadata"]["name"], namespace, grace=0)
        if time.monotonic() > deadline:
            raise RuntimeError(f"pods of {namespace} do not end")
        time.sleep(0.3)
    api.delete("Namespace", namespace)
    for node in update.nodes:
        api.delete("Node", str(node["metadata"]["name"]))


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:  # it has ended
        return []
