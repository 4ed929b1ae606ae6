"""Blocked workers: the taints that make a pool too small for a gang."""

import json
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.scenarios.pool import BLOCKED_TAINT

from .cluster.base import Cluster
from .pools import WorkerPool


@dataclass(frozen=True)
class BlockedWorkersArgs:
    """Arguments of BlockedWorkers."""

    cluster: Cluster
    """The cluster of the workers."""
    pool: WorkerPool
    """The pool: its first workers are blocked."""
    count: int
    """How many workers to block; 0 unblocks all."""


class BlockedWorkers(pulumi.ComponentResource):
    """The first workers of a pool, tainted so that nothing new is scheduled there.

    On a cluster that the stack owns, each worker has a patch. A worker that is not blocked has one
    with an empty list: so a smaller count is an update, which comes before the verdict, and not a
    deletion, which would come after it.

    On another cluster a command changes the taints, because `spec.taints` is one atomic list: a
    patch would own, and remove, the taints of others, too.
    """

    def __init__(
        self, name: str, args: BlockedWorkersArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"pool": args.pool.name, "count": args.count}
        super().__init__("lockstep:scenario:BlockedWorkers", name, props, opts)
        if args.cluster.is_owned:
            self._patch(name, args)
        else:
            self._command(name, args)
        self.register_outputs({})

    def _patch(self, name: str, args: BlockedWorkersArgs) -> None:
        blocked = kubernetes.core.v1.TaintPatchArgs(
            key=BLOCKED_TAINT, value=args.pool.name, effect="NoSchedule"
        )
        for index, worker in enumerate(args.pool.workers):
            kubernetes.core.v1.NodePatch(
                f"{name}-{index}-taints",
                metadata=kubernetes.meta.v1.ObjectMetaPatchArgs(
                    name=worker.name,
                    # Kubernetes and the drills write the same list, which would be a conflict.
                    annotations={"pulumi.com/patchForce": "true"},
                ),
                spec=kubernetes.core.v1.NodeSpecPatchArgs(
                    taints=[blocked] if index < args.count else []
                ),
                # A worker's name may be known before the worker is created.
                opts=args.cluster.opts(self, depends_on=[args.cluster]),
            )

    def _command(self, name: str, args: BlockedWorkersArgs) -> None:
        names = pulumi.Output.all(*(worker.name for worker in args.pool.workers))
        args.cluster.command(
            f"{name}-taints",
            create="taint apply",
            delete="taint remove",
            environment={
                "LOCKSTEP_NODES": names.apply(json.dumps),
                "LOCKSTEP_BLOCKED": str(args.count),
                "LOCKSTEP_POOL": args.pool.name,
            },
            opts=args.cluster.opts(self),
        )
