"""A cluster that exists already, reached through a context of a kubeconfig."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig

from .live import LiveCluster


@dataclass(frozen=True)
class ExistingClusterArgs:
    """Arguments of ExistingCluster."""

    cluster_name: str
    """Begins the name of everything that this stack creates cluster-wide."""
    context: str
    """The context; never the kubeconfig's current one by chance."""
    kubeconfig: str | None = None
    """The kubeconfig's path; None for kubectl's default."""
    export_kubeconfig: bool = False
    """Whether `kubeconfig` has the context's part of the file, credentials included."""


class ExistingCluster(LiveCluster):
    """A cluster that the stack does not own: it deletes what it created there, and nothing else."""

    provider_name = "existing"

    def __init__(
        self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"clusterName": args.cluster_name, "context": args.context}
        super().__init__("lockstep:cluster:ExistingCluster", name, props, opts)
        self._name = name
        path, content = _read(args)
        self.owner = None
        self.incarnation = None
        self.cluster_name = args.cluster_name
        self.kubeconfig = pulumi.Output.secret(content) if args.export_kubeconfig else None
        self.access = {"LOCKSTEP_KUBECONFIG": path, "LOCKSTEP_CONTEXT": args.context}
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            # The path and not the content: then no credential is in the stack's state.
            kubeconfig=path,
            context=args.context,
            enable_server_side_apply=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"name": self.cluster_name})


def _read(args: ExistingClusterArgs) -> tuple[str, str]:
    """Return the kubeconfig's path and its part for the context.

    Pulumi prints a RunError as one line.
    """
    if not args.context:
        raise pulumi.RunError("an existing cluster needs an explicit context of your kubeconfig")
    try:
        path = kubeconfig.find(args.kubeconfig, args.context)
        return str(path), kubeconfig.only(path, args.context)
    except LockstepError as error:
        raise pulumi.RunError(str(error)) from error
