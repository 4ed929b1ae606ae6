"""Operators as processes of this machine, for the embedded cluster."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from .cluster.base import Cluster


@dataclass
class HostOperatorArgs:
    """Which operator, and what restarts it."""

    cluster: Cluster
    """The embedded cluster it works for."""
    operator: str
    """`volcano` or `lws`."""
    version: str
    """The binary's version."""
    config: pulumi.Input[str]
    """Its configuration in the cluster: only a change of it restarts the operator."""


class HostOperator(pulumi.ComponentResource):
    """Volcano or LWS, supervised, started from the ConfigMap that is in the cluster.

    Stands for the Deployment that the chart would run as pods: simulated kubelets run none.
    """

    def __init__(
        self, name: str, args: HostOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:HostOperator", name, None, opts)
        args.cluster.command(
            f"{name}-process",
            create="operators",
            environment={"LOCKSTEP_OPERATOR": args.operator, "LOCKSTEP_VERSION": args.version},
            rerun_when=args.config,
            opts=args.cluster.opts(self),
        )
        self.register_outputs({})
