"""Operators as processes of this machine, for the embedded cluster."""

from dataclasses import dataclass

import pulumi

from .cluster.base import Cluster


@dataclass
class HostOperatorArgs:
    """Arguments of HostOperator."""

    cluster: Cluster
    """The embedded cluster."""
    operator: str
    """The operator: `volcano` or `lws`."""
    version: str
    """The version of the program."""
    config: pulumi.Input[str]
    """The operator's configuration in the cluster: a change restarts the operator."""


class HostOperator(pulumi.ComponentResource):
    """Volcano or LWS as a supervised process, started from its ConfigMap in the cluster.

    The process replaces the pods of the chart's Deployment, which simulated kubelets cannot run.
    """

    def __init__(
        self, name: str, args: HostOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"operator": args.operator, "version": args.version}
        super().__init__("lockstep:platform:HostOperator", name, props, opts)
        args.cluster.command(
            f"{name}-process",
            create="operators",
            environment={"LOCKSTEP_OPERATOR": args.operator, "LOCKSTEP_VERSION": args.version},
            rerun_when=args.config,
            opts=args.cluster.opts(self),
        )
        self.register_outputs({})
