"""Blocked workers: what makes a pool too small for a gang."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi

from .cluster.base import Cluster
from .pools import WorkerPool


@dataclass(frozen=True)
class BlockedWorkersArgs:
    """Which workers to block."""

    cluster: Cluster
    """The cluster they are in."""
    pool: WorkerPool
    """The pool: its first workers are blocked."""
    count: int
    """How many; 0 unblocks all."""


class BlockedWorkers(pulumi.ComponentResource):
    """The first workers of a pool, tainted so that nothing new is scheduled there.

    Taints of others stay, both when ours are set and when they are removed. One resource for the
    whole pool, also when none is blocked: then a smaller count unblocks during the update, where
    deleting a resource per worker would unblock only after the verdict.
    """

    blocked: pulumi.Output[int]
    """How many workers are blocked; known once they are."""

    def __init__(
        self, name: str, args: BlockedWorkersArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:scenario:BlockedWorkers", name, None, opts)
        names = pulumi.Output.all(*(worker.name for worker in args.pool.workers))
        taints = args.cluster.command(
            f"{name}-taints",
            create="taint apply",
            delete="taint remove",
            environment={
                "LOCKSTEP_NODES": names.apply(json.dumps),
                "LOCKSTEP_BLOCKED": str(args.count),
                "LOCKSTEP_POOL": args.pool.name,
            },
            # The nodes' names may be known before the nodes are there.
            opts=args.cluster.opts(self, depends_on=[args.cluster]),
        )
        self.blocked = taints.stdout.apply(lambda _: args.count)
        self.register_outputs({"blocked": self.blocked})
