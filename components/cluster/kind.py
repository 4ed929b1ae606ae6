"""kind: a cluster of containers, with real kubelets. Needs Docker."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep import versions
from lockstep.local import kind_config

from ..command import digest, lockstep_command
from .live import LiveCluster


@dataclass(frozen=True)
class KindClusterArgs:
    """Arguments of KindCluster; a change of any of them recreates the cluster."""

    cluster_name: str
    """Names the cluster, its containers and its folder."""
    workers: int
    """Workers, besides one control plane."""
    image: str = versions.KIND_NODE_IMAGE
    """The node image; the default is kind's public image, pinned by digest."""


class KindCluster(LiveCluster):
    """A kind cluster that belongs to the stack: deleting it deletes everything inside."""

    provider_name = "kind"

    def __init__(
        self, name: str, args: KindClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"clusterName": args.cluster_name, "workers": args.workers, "image": args.image}
        super().__init__("lockstep:cluster:KindCluster", name, props, opts)
        self._name = name
        config = kind_config.config(
            args.cluster_name, {}, args.image, workers_without_pool=args.workers
        )
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
