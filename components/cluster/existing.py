"""A cluster that is there already, reached by a context of a kubeconfig."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster.live import LiveCluster
from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig


@dataclass(frozen=True)
class ExistingClusterArgs:
    """How to reach the cluster."""

    cluster_name: str
    """Names what this stack makes cluster-wide, and its state on this machine."""
    context: str
    """The context; never the kubeconfig's current one by chance."""
    kubeconfig: str | None = None
    """The kubeconfig's path; None for kubectl's own default."""


class ExistingCluster(LiveCluster):
    """Somebody's cluster: whatever this stack makes there, it also takes away, and nothing else."""

    def __init__(
        self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:cluster:ExistingCluster", name, None, opts)
        path, content = _read(args)
        self.owner = None
        self.context = args.context
        self.host_operators = False
        self.cluster_name = pulumi.Output.from_input(args.cluster_name)
        self.kubeconfig = pulumi.Output.secret(content)
        self.kubeconfig_path = pulumi.Output.from_input(path)
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
    """Find the kubeconfig and its part for the context; Pulumi prints a RunError as one line."""
    if not args.context:
        raise pulumi.RunError("an existing cluster needs an explicit context of your kubeconfig")
    try:
        path = kubeconfig.find(args.kubeconfig)
        return str(path), kubeconfig.only(path, args.context)
    except LockstepError as error:
        raise pulumi.RunError(str(error)) from error
