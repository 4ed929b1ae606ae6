"""The embedded cluster: a real control plane on this machine, with simulated kubelets."""

import json
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from ..command import digest, lockstep_command
from ..pools import POOL_LABEL, Worker, WorkerPool
from .base import Cluster, HostOperators

PODS_PER_NODE = "110"


@dataclass(frozen=True)
class KwokClusterArgs:
    """Arguments of KwokCluster."""

    cluster_name: str
    """Names the cluster's folder; clusters of different names run side by side."""
    kubernetes_version: str
    """The version of the control plane; a change recreates the cluster."""
    worker_cpu: str
    """Allocatable CPU of each worker."""
    worker_memory: str
    """Allocatable memory of each worker."""
    incarnation: str = ""
    """Id of the cluster's data; another id recreates the cluster. A command cannot notice that the
    cluster which it created was lost, so the program looks and passes a new id then."""
    run: str = ""
    """Id of the run of the cluster's processes; another id starts them again with the same data."""


class KwokCluster(Cluster):
    """kube-apiserver, etcd, controller manager and scheduler as processes of this machine.

    Needs neither Docker nor root. Operators run as processes, too (`components.operators`); only
    kubelets are simulated. Deleting the cluster ends its processes and removes its folder, so
    nothing inside has to be deleted one by one.
    """

    provider_name = "kwok"

    def __init__(
        self, name: str, args: KwokClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"clusterName": args.cluster_name, "kubernetesVersion": args.kubernetes_version}
        super().__init__("lockstep:cluster:KwokCluster", name, props, opts)
        self._name = name
        self._args = args
        control_plane = lockstep_command(
            f"{name}-control-plane",
            cluster_name=args.cluster_name,
            create="cluster create",
            delete="cluster delete",
            environment={"LOCKSTEP_INCARNATION": args.incarnation, "LOCKSTEP_RUN": args.run},
            triggers=[args.incarnation, args.kubernetes_version],
            opts=pulumi.ResourceOptions(
                parent=self,
                # Two clusters of one name would share a folder: delete the old one first.
                delete_before_replace=True,
                additional_secret_outputs=["stdout"],
            ),
        )
        described = control_plane.stdout.apply(_parsed)
        self.owner = control_plane
        self.cluster_name = args.cluster_name
        # Every creation has its own CA.
        self.incarnation = digest(_public(described, "webhookCa"))
        self.kubeconfig = pulumi.Output.secret(described.apply(lambda known: known["kubeconfig"]))
        self.host = HostOperators(
            webhook_url=_public(described, "webhookUrl"), webhook_ca=_public(described, "webhookCa")
        )
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            cluster_identifier=args.incarnation,
            # After a reboot, a refresh reports an unreachable cluster instead of failing.
            delete_unreachable=True,
            opts=pulumi.ResourceOptions(parent=self, deleted_with=control_plane),
        )
        self.register_outputs({"name": self.cluster_name, "kubeconfig": self.kubeconfig})

    def pool(self, name: str, size: int) -> WorkerPool:
        """Create simulated workers of the configured size."""
        args = self._args
        names = [f"{name}-worker-{index}" for index in range(size)]
        workers = [Worker(node, args.worker_cpu, args.worker_memory) for node in names]
        for worker in workers:
            SimulatedNode(f"{self._name}-{worker.name}", worker, name, opts=self.opts(self))
        return WorkerPool(name, workers)


class SimulatedNode(pulumi.CustomResource):
    """A Node whose kubelet is simulated by KWOK.

    The typed Node of the Kubernetes SDK takes no status. A kubelet reports its size there once,
    when it registers, and a simulated kubelet keeps the size that the Node was created with: a
    change of size replaces the Node.
    """

    def __init__(
        self, name: str, worker: Worker, pool: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        size = {"cpu": worker.cpu, "memory": worker.memory, "pods": PODS_PER_NODE}
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
            "status": {"allocatable": size, "capacity": size},
        }
        once = pulumi.ResourceOptions(replace_on_changes=["status"], delete_before_replace=True)
        opts = pulumi.ResourceOptions.merge(opts, once)
        super().__init__("kubernetes:core/v1:Node", name, properties, opts)


def _parsed(stdout: str | None) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(stdout or "{}")
    return described


def _public(described: pulumi.Output[dict[str, Any]], key: str) -> pulumi.Output[str]:
    """Return one value of the secret output that is not secret itself."""
    return pulumi.Output.unsecret(described.apply(lambda known: str(known[key])))
