"""The interface that the rest of the program sees of a cluster, whichever provider made it."""

from __future__ import annotations

import abc
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.pools import Worker, WorkerPool

__all__ = ["Cluster", "Worker", "WorkerPool"]


class Cluster(pulumi.ComponentResource, abc.ABC):
    """A Kubernetes cluster: how to reach it, who owns it, and its pools of workers."""

    cluster_name: pulumi.Output[str]
    """The cluster's name; state on this machine is kept under it."""
    kubeconfig: pulumi.Output[str]
    """The kubeconfig's content; secret."""
    kubeconfig_path: pulumi.Output[str]
    """A file with it, readable by its owner only, for commands."""
    context: str | None
    """The context to use in that file; None means its current one."""
    provider: kubernetes.Provider
    """What creates things in this cluster."""
    owner: pulumi.Resource | None
    """The resource whose deletion takes everything in the cluster with it; None if not ours."""
    host_operators: bool
    """True where operators run as processes of the host, so charts start no pods."""
    incarnation: str = ""
    """Changes when the cluster is made anew: what was done to the old one must be done again."""

    @property
    def provider_name(self) -> str:
        """Which provider made it: kwok, kind or existing, as the class is called."""
        return type(self).__name__.removesuffix("Cluster").lower()

    @abc.abstractmethod
    def pool(self, name: str, size: int) -> WorkerPool:
        """`size` workers that carry `lockstep.dev/pool=<name>`; called once per scenario."""

    def child(self, parent: pulumi.Resource | None, **extra: Any) -> pulumi.ResourceOptions:
        """Options of everything made in this cluster: components, objects and commands alike.

        `deleted_with` is not inherited from a parent as the provider is, so every resource needs
        it: then destroying an owned cluster deletes the cluster, and not each object before it.
        """
        return pulumi.ResourceOptions(
            parent=parent, providers=[self.provider], deleted_with=self.owner, **extra
        )
