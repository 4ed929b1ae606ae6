"""Pools of workers on nodes that exist already: chosen in the cluster and labelled while used."""

from __future__ import annotations

import json
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from ..pools import POOL_LABEL, Worker, WorkerPool
from .base import Cluster


class LiveCluster(Cluster):
    """A cluster with real nodes: what kind and existing clusters have in common."""

    _name: str
    _labelled: tuple[pulumi.Resource, ...] = ()

    def pool(self, name: str, size: int) -> WorkerPool:
        """Choose workers, read what is free there, and keep them for this pool.

        Nodes that carry the pool's label are chosen first, so that an administrator can decide.
        Destroying the stack removes the label, unless the administrator set it.
        """
        prefix = f"{self._name}-{name}"
        chosen = self.command(
            f"{prefix}-pool",
            create="nodes",
            environment={"LOCKSTEP_POOL": name, "LOCKSTEP_POOL_SIZE": str(size)},
            # One pool after the other: a node is taken once it is labelled.
            opts=self.opts(self, depends_on=list(self._labelled)),
        )
        workers = [_worker(chosen.stdout, index) for index in range(size)]
        self._labelled = tuple(
            kubernetes.core.v1.NodePatch(
                f"{prefix}-worker-{index}",
                metadata=kubernetes.meta.v1.ObjectMetaPatchArgs(
                    name=worker.name, labels={POOL_LABEL: name}
                ),
                opts=self.opts(self),
            )
            for index, worker in enumerate(workers)
        )
        return WorkerPool(name, workers)


def _worker(stdout: pulumi.Output[str], index: int) -> Worker:
    def field(key: str) -> pulumi.Output[str]:
        return stdout.apply(lambda text: str(_workers(text)[index][key]))

    return Worker(name=field("name"), cpu=field("cpu"), memory=field("memory"))


def _workers(stdout: str) -> list[dict[str, Any]]:
    workers: list[dict[str, Any]] = json.loads(stdout)["workers"]
    return workers
