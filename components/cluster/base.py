"""The interface through which all components use a cluster, whatever created it."""

import abc
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_command import local

from ..command import lockstep_command
from ..pools import WorkerPool

LONGEST_NAME = 63
"""The longest name of a namespace, and the longest value of a label."""


@dataclass(frozen=True)
class HostOperators:
    """How the API server reaches operators that run as processes of this machine."""

    webhook_url: pulumi.Output[str]
    """The address of an operator's webhooks."""
    webhook_ca: pulumi.Output[str]
    """The CA that signed the certificate at that address, as base64 of PEM."""


class Cluster(pulumi.ComponentResource, abc.ABC):
    """A Kubernetes cluster: how to reach it, whether the stack owns it, and its pools of workers.

    A constructor reads nothing from the machine: whatever it needs to know is in its arguments.
    """

    provider_name: ClassVar[str]
    """What created the cluster, as the config key clusterProvider names it."""

    cluster_name: str
    """The cluster's name; files on this machine are kept in a folder of this name."""
    kubeconfig: pulumi.Output[str] | None
    """The kubeconfig's content, secret; None if the stack must not hold it."""
    access: Mapping[str, pulumi.Input[str]] | None = None
    """Environment variables through which a command reaches the cluster; None if its kubeconfig is
    in the cluster's folder on this machine."""
    provider: kubernetes.Provider
    """The Pulumi provider of everything in this cluster."""
    owner: pulumi.Resource | None
    """The resource whose deletion deletes the cluster; None if the stack does not own it."""
    incarnation: pulumi.Output[str] | None
    """Changes when the cluster is recreated; None where the stack would not notice."""
    host: HostOperators | None = None
    """Set where operators run as processes of this machine; None where they run as pods."""

    @property
    def is_owned(self) -> bool:
        """Whether the cluster, its nodes included, belongs to this stack alone."""
        return self.owner is not None

    @abc.abstractmethod
    def pool(self, name: str, size: int) -> WorkerPool:
        """Return `size` workers that no other pool has; called once per scenario."""

    def opts(self, parent: pulumi.Resource | None = None, **extra: Any) -> pulumi.ResourceOptions:
        """Return the options of everything in this cluster: components, objects and commands.

        `deleted_with` is not inherited from a parent as the provider is, so every resource needs
        it: then destroying an owned cluster deletes the cluster, and not each object before it.
        """
        return pulumi.ResourceOptions(
            parent=parent, providers=[self.provider], deleted_with=self.owner, **extra
        )

    def command(
        self,
        name: str,
        *,
        create: str | None = None,
        delete: str | None = None,
        environment: Mapping[str, pulumi.Input[str]] | None = None,
        rerun_when: pulumi.Input[Any] = None,
        opts: pulumi.ResourceOptions,
    ) -> local.Command:
        """Run a step of Lockstep's command line that acts on this cluster.

        It runs again when the cluster is recreated, when a value in `environment` changes, and when
        `rerun_when` changes, which the step itself does not read.
        """
        when = [value for value in (self.incarnation, rerun_when) if value is not None]
        return lockstep_command(
            name,
            cluster_name=self.cluster_name,
            create=create,
            delete=delete,
            environment={**(self.access or {}), **(environment or {})},
            uses_local_kubeconfig=self.access is None,
            rerun_when=when or None,
            opts=opts,
        )

    def scoped(self, name: str) -> str:
        """Return a name for an object that other users of the cluster could have, too.

        On a cluster that the stack owns there are no others. Elsewhere the name begins with the
        cluster's, which is different for each stack.
        """
        if self.is_owned:
            return f"lockstep-{name}"
        full = f"{self.cluster_name}-{name}"
        if len(full) <= LONGEST_NAME:
            return full
        mark = hashlib.sha256(full.encode()).hexdigest()[:8]
        return f"{full[: LONGEST_NAME - len(mark) - 1]}-{mark}"
