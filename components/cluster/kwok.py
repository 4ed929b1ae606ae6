"""The embedded cluster: a real control plane on this machine, with simulated kubelets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster.base import Cluster
from components.pools import POOL_LABEL, Worker, WorkerPool
from components.program import program
from lockstep.local import control_plane as embedded

PODS_PER_NODE = "110"


@dataclass
class KwokClusterArgs:
    """What the embedded cluster is like."""

    cluster_name: str
    """Names its folder; two clusters of different names run side by side."""
    kubernetes_version: str
    """A change makes the cluster anew."""
    worker_cpu: str
    """Allocatable CPU of each worker."""
    worker_memory: str
    """Allocatable memory of each worker."""


class KwokCluster(Cluster):
    """kube-apiserver, etcd, controller manager and scheduler as processes, made by kwokctl.

    No Docker, no root. Operators run as processes, too (`components.operators`); only kubelets are
    simulated. Deleting the cluster ends its processes and removes its folder, so nothing inside
    needs deleting one by one.
    """

    webhook_url: pulumi.Output[str]
    """Where the API server reaches the webhooks of an operator that runs on this machine."""
    webhook_ca: pulumi.Output[str]
    """The authority, in base64, that signed what is served there."""

    def __init__(
        self, name: str, args: KwokClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:cluster:KwokCluster", name, None, opts)
        self._name = name
        self._args = args
        # A command has no way to notice that what it made is gone; the id changes when it is.
        self.incarnation, lost = embedded.incarnation(args.cluster_name)
        if lost:
            pulumi.log.warn(f"the embedded cluster {args.cluster_name} is gone; it is made anew")
        control_plane = program(
            f"{name}-control-plane",
            cluster_name=args.cluster_name,
            create="cluster create",
            delete="cluster delete",
            environment={"LOCKSTEP_INCARNATION": self.incarnation},
            triggers=[self.incarnation, args.kubernetes_version],
            opts=pulumi.ResourceOptions(
                parent=self,
                # One name, one folder: the old cluster must be gone before the new one comes.
                delete_before_replace=True,
                additional_secret_outputs=["stdout"],
            ),
        )
        described = control_plane.stdout.apply(_parsed)
        self.owner = control_plane
        self.context = None
        self.host_operators = True
        self.cluster_name = pulumi.Output.from_input(args.cluster_name)
        self.kubeconfig = pulumi.Output.secret(described.apply(lambda known: known["kubeconfig"]))
        self.kubeconfig_path = _public(described, "kubeconfigPath")
        self.webhook_url = _public(described, "webhookUrl")
        self.webhook_ca = _public(described, "webhookCa")
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            cluster_identifier=self.incarnation,
            # A refresh after the machine was restarted finds nobody at home and says so.
            delete_unreachable=True,
            opts=pulumi.ResourceOptions(parent=self, deleted_with=control_plane),
        )
        self.register_outputs({"name": self.cluster_name, "kubeconfig": self.kubeconfig})

    def pool(self, name: str, size: int) -> WorkerPool:
        """Simulated workers of the configured size."""
        args = self._args
        names = [f"{name}-worker-{index}" for index in range(size)]
        workers = [Worker(node, args.worker_cpu, args.worker_memory) for node in names]
        for worker in workers:
            SimulatedNode(f"{self._name}-{worker.name}", worker, name, opts=self.child(self))
        return WorkerPool(name, workers)


class SimulatedNode(pulumi.CustomResource):
    """A Node whose kubelet KWOK plays.

    The typed Node of the Kubernetes SDK takes no status. A kubelet reports its size there when it
    registers, once, and a simulated one keeps what it finds: a change of size makes a new node.
    """

    def __init__(
        self, name: str, worker: Worker, pool: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        room = {"cpu": worker.cpu, "memory": worker.memory, "pods": PODS_PER_NODE}
        labels = {
            POOL_LABEL: pool,
            "kubernetes.io/hostname": worker.name,
            "kubernetes.io/os": "linux",
            "node-role.kubernetes.io/worker": "",
        }
        properties = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": worker.name,
                "labels": labels,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "status": {"allocatable": room, "capacity": room},
        }
        once = pulumi.ResourceOptions(replace_on_changes=["status"], delete_before_replace=True)
        opts = pulumi.ResourceOptions.merge(opts, once)
        super().__init__("kubernetes:core/v1:Node", name, properties, opts)


def _parsed(stdout: str | None) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(stdout or "{}")
    return described


def _public(described: pulumi.Output[dict[str, Any]], key: str) -> pulumi.Output[str]:
    """One value of the secret output that is no secret itself."""
    return pulumi.Output.unsecret(described.apply(lambda known: str(known[key])))
