"""kind: a cluster of containers, with real kubelets. Needs Docker."""

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep import versions
from lockstep.kube import quantity
from lockstep.local import kind_config

from ..command import digest, lockstep_command
from ..pools import POOL_LABEL, Worker, WorkerPool
from .base import Cluster

RESERVED = {"cpu": "500m", "memory": "512Mi"}
"""Kept free on each worker for the pods of kind and of the operators."""


@dataclass(frozen=True)
class KindClusterArgs:
    """Arguments of KindCluster; a change of any of them recreates the cluster."""

    cluster_name: str
    """Names the cluster, its containers and its folder."""
    workers: int
    """Workers, besides one control plane."""
    image: str = versions.KIND_NODE_IMAGE
    """The node image; the default is kind's public image, pinned by digest."""


class KindCluster(Cluster):
    """A kind cluster that belongs to the stack: deleting it deletes everything inside."""

    provider_name = "kind"

    def __init__(
        self, name: str, args: KindClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"clusterName": args.cluster_name, "workers": args.workers, "image": args.image}
        super().__init__("lockstep:cluster:KindCluster", name, props, opts)
        self._name = name
        self._workers = _node_names(args)
        config = kind_config.config(args.cluster_name, args.image, args.workers)
        containers = lockstep_command(
            f"{name}-containers",
            create="kind create",
            delete="kind delete",
            cluster_name=args.cluster_name,
            environment={"LOCKSTEP_KIND_CONFIG": config},
            triggers=[config],
            opts=pulumi.ResourceOptions(
                parent=self,
                # Two clusters cannot have one name: delete the old one first.
                delete_before_replace=True,
                additional_secret_outputs=["stdout"],
            ),
        )
        made = containers.stdout.apply(lambda text: dict(json.loads(text)))
        self.owner = containers
        self.cluster_name = args.cluster_name
        self.kubeconfig = pulumi.Output.secret(made.apply(lambda known: str(known["kubeconfig"])))
        # Every creation has its own keys.
        self.incarnation = pulumi.Output.unsecret(digest(self.kubeconfig))
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            # After the containers were removed, a refresh reports an unreachable cluster instead
            # of failing.
            delete_unreachable=True,
            opts=pulumi.ResourceOptions(parent=self, deleted_with=containers),
        )
        self.register_outputs({"name": self.cluster_name, "kubeconfig": self.kubeconfig})

    def pool(self, name: str, size: int) -> WorkerPool:
        """Label the next workers, and read their size.

        kind could set the label when it creates the nodes, but then another list of scenarios would
        recreate the cluster and pull every image again. The API server refuses the label of a node
        that another pool has, until its scenario was removed.
        """
        names, self._workers = self._workers[:size], self._workers[size:]
        if len(names) < size:
            raise pulumi.RunError(f"the kind cluster has too few workers for the pool {name}")
        patches = [
            kubernetes.core.v1.NodePatch(
                f"{self._name}-{name}-worker-{index}",
                metadata=kubernetes.meta.v1.ObjectMetaPatchArgs(
                    name=node, labels={POOL_LABEL: name}
                ),
                opts=self.opts(self),
            )
            for index, node in enumerate(names)
        ]
        return WorkerPool(name, [_worker(patch) for patch in patches])


def _node_names(args: KindClusterArgs) -> list[str]:
    """Return the workers' names, as kind gives them: without a number for the first."""
    numbers = ["", *(str(number) for number in range(2, args.workers + 1))]
    return [f"{args.cluster_name}-worker{number}" for number in numbers]


def _worker(patch: kubernetes.core.v1.NodePatch) -> Worker:
    """Return the worker with what the pods of kind and of the operators leave free."""

    def free(resource: str) -> pulumi.Output[str]:
        return patch.status.apply(lambda status: _free(resource, status))

    name = patch.metadata.apply(lambda metadata: str(metadata.name if metadata else ""))
    return Worker(name=name, cpu=free("cpu"), memory=free("memory"))


def _free(resource: str, status: Any) -> str:
    """Subtract what the network, DNS, Volcano and LWS may request on one node."""
    free = quantity.parse(status.allocatable[resource]) - quantity.parse(RESERVED[resource])
    amount = max(free, Fraction(0))
    return quantity.format_cpu(amount) if resource == "cpu" else quantity.format_memory(amount)
