"""kind: a cluster of containers, with real kubelets. Needs Docker."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster.live import LiveCluster
from components.program import program
from lockstep import versions
from lockstep.local import kind_config


@dataclass(frozen=True)
class KindClusterArgs:
    """What the cluster is like; a change of any of it makes the cluster anew."""

    cluster_name: str
    """Names the cluster, its containers and its folder."""
    workers: int
    """Workers, besides one control plane."""
    image: str = versions.KIND_NODE_IMAGE
    """The node image: the public one, pinned by digest, or one that was built here."""


class KindCluster(LiveCluster):
    """A kind cluster that belongs to the stack: deleting it takes everything inside with it."""

    def __init__(
        self, name: str, args: KindClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:cluster:KindCluster", name, None, opts)
        config = kind_config.config(
            args.cluster_name, {}, args.image, workers_without_pool=args.workers
        )
        containers = program(
            f"{name}-containers",
            create="kind create",
            delete="kind delete",
            cluster_name=args.cluster_name,
            environment={"LOCKSTEP_KIND_CONFIG": config},
            triggers=[config],
            opts=pulumi.ResourceOptions(
                parent=self,
                # One name, one cluster: the old one must be gone before the new one comes.
                delete_before_replace=True,
                additional_secret_outputs=["stdout"],
            ),
        )
        made = containers.stdout.apply(lambda text: dict(json.loads(text)))
        self.owner = containers
        self.context = None
        self.host_operators = False
        self.cluster_name = pulumi.Output.from_input(args.cluster_name)
        self.kubeconfig = pulumi.Output.secret(made.apply(lambda known: str(known["kubeconfig"])))
        self.kubeconfig_path = pulumi.Output.unsecret(
            made.apply(lambda known: str(known["kubeconfigPath"]))
        )
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            kubeconfig=self.kubeconfig,
            # A refresh after the containers were removed finds nobody at home and says so.
            delete_unreachable=True,
            opts=pulumi.ResourceOptions(parent=self, deleted_with=containers),
        )
        self.register_outputs({"name": self.cluster_name, "kubeconfig": self.kubeconfig})
