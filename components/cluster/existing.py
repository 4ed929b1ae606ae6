"""A cluster that exists already, reached through a context of a kubeconfig."""

import json
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig

from ..pools import POOL_LABEL, Worker, WorkerPool
from .base import Cluster


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


class ExistingCluster(Cluster):
    """A cluster that the stack does not own: it deletes what it created there, and nothing else."""

    provider_name = "existing"

    def __init__(
        self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"clusterName": args.cluster_name, "context": args.context}
        super().__init__("lockstep:cluster:ExistingCluster", name, props, opts)
        self._name = name
        self._labelled: list[pulumi.Resource] = []
        path, content = _read(args)
        self.owner = None
        self.incarnation = None
        self.cluster_name = args.cluster_name
        self.kubeconfig = pulumi.Output.secret(content) if args.export_kubeconfig else None
        # As configured and not as found: the path that was found is different on another machine,
        # where commands must not run again because of it.
        configured = {"LOCKSTEP_KUBECONFIG": args.kubeconfig} if args.kubeconfig else {}
        self.access = {**configured, "LOCKSTEP_CONTEXT": args.context}
        self.provider = kubernetes.Provider(
            f"{name}-provider",
            # The path and not the content: then no credential is in the stack's state.
            kubeconfig=path,
            context=args.context,
            # The kubeconfig has another path on another machine: still the same cluster.
            cluster_identifier=args.context,
            enable_server_side_apply=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({"name": self.cluster_name})

    def pool(self, name: str, size: int) -> WorkerPool:
        """Choose workers, read what is free there, and label them while they are used.

        Pulumi cannot list nodes, so a command chooses them. Nodes that carry the pool's label come
        first, so that an administrator can decide. Destroying the stack removes the label, unless
        the administrator set it.
        """
        prefix, label = f"{self._name}-{name}", self.scoped(name)
        chosen = self.command(
            f"{prefix}-pool",
            create="nodes",
            environment={"LOCKSTEP_POOL": label, "LOCKSTEP_POOL_SIZE": str(size)},
            # One pool after the other: a node is taken once it is labelled.
            opts=self.opts(self, depends_on=list(self._labelled)),
        )
        workers = [_worker(chosen.stdout, index) for index in range(size)]
        self._labelled = [
            kubernetes.core.v1.NodePatch(
                f"{prefix}-worker-{index}",
                metadata=kubernetes.meta.v1.ObjectMetaPatchArgs(
                    name=worker.name, labels={POOL_LABEL: label}
                ),
                opts=self.opts(self),
            )
            for index, worker in enumerate(workers)
        ]
        return WorkerPool(label, workers)


def _worker(stdout: pulumi.Output[str], index: int) -> Worker:
    def field(key: str) -> pulumi.Output[str]:
        return stdout.apply(lambda text: str(json.loads(text)["workers"][index][key]))

    return Worker(name=field("name"), cpu=field("cpu"), memory=field("memory"))


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
