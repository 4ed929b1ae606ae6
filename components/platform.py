"""Gang scheduling, installed: Volcano, LWS, and what makes the two work together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

import toolchain
from components.cluster.base import Cluster
from components.cluster.kwok import KwokCluster
from components.gang_config import GangConfig, GangConfigArgs
from components.lws import LeaderWorkerSetOperator, LwsArgs
from components.operators import HostOperator, HostOperatorArgs
from components.program import access, program
from components.rbac import PodGroupRights, PodGroupRightsArgs
from components.volcano import Volcano, VolcanoArgs


@dataclass(frozen=True)
class PlatformArgs:
    """What is installed, and where."""

    cluster: Cluster
    """The cluster that gets gang scheduling."""
    volcano_version: str
    """Pinned, without a leading v."""
    lws_version: str
    """Pinned, without a leading v."""
    gang_scheduling: bool = True
    """Whether LWS makes PodGroups: the ConfigMap patch and the rights, on or off."""
    install_volcano: bool = True
    """False where the cluster has it already."""
    install_lws: bool = True
    """False where the cluster has it already."""
    scheduler_conf: str | None = None
    """Volcano's scheduler configuration; None keeps the chart's own."""


class Platform(pulumi.ComponentResource):
    """Everything between a bare cluster and the first gang."""

    installed: list[pulumi.Resource]
    """What a recorder has to wait for: the kinds of objects that it follows."""
    ready: list[pulumi.Resource]
    """What a workload has to wait for."""

    def __init__(
        self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:Platform", name, None, opts)
        cluster = args.cluster
        volcano = self._volcano(args) if args.install_volcano else None
        lws = self._lws(args) if args.install_lws else None
        config = GangConfig(
            "gang-config",
            GangConfigArgs(
                cluster=cluster, enabled=args.gang_scheduling, release=lws.release if lws else None
            ),
            opts=cluster.child(self),
        )
        self.installed = [part for part in (volcano, lws) if part]
        self.ready = [*self.installed, config]
        if args.gang_scheduling:
            rights = PodGroupRights(
                "podgroup-rights", PodGroupRightsArgs(cluster), opts=cluster.child(self)
            )
            self.ready.append(rights)
        if cluster.host_operators:
            # Neither needs the other to start: LWS asks for PodGroups when the first set comes.
            without_volcano = [part for part in self.ready if part is not volcano]
            self.ready += [
                self._process(
                    "volcano", args, args.volcano_version, args.scheduler_conf, [volcano]
                ),
                self._process("lws", args, args.lws_version, config.config, without_volcano),
            ]
        else:
            self.ready.append(self._webhook(cluster, config, lws))
        self.register_outputs({})

    def _volcano(self, args: PlatformArgs) -> Volcano:
        chart = toolchain.chart("volcano", args.volcano_version)
        return Volcano(
            "volcano",
            VolcanoArgs(
                args.cluster,
                args.volcano_version,
                str(chart) if chart else None,
                args.scheduler_conf,
            ),
            opts=args.cluster.child(self),
        )

    def _lws(self, args: PlatformArgs) -> LeaderWorkerSetOperator:
        chart = toolchain.chart("lws", args.lws_version)
        cluster = args.cluster
        on_host = cluster if isinstance(cluster, KwokCluster) else None
        return LeaderWorkerSetOperator(
            "lws",
            LwsArgs(
                cluster,
                args.lws_version,
                chart=str(chart) if chart else None,
                webhook_url=on_host.webhook_url if on_host else None,
                webhook_ca=on_host.webhook_ca if on_host else None,
            ),
            opts=cluster.child(self),
        )

    def _webhook(
        self, cluster: Cluster, config: GangConfig, lws: LeaderWorkerSetOperator | None
    ) -> pulumi.Resource:
        """Wait until sets can be created, after every restart of the manager."""
        revision = lws.release.status.apply(lambda status: str(status.revision)) if lws else ""
        restarted_for = pulumi.Output.concat(revision, "\n", config.config).apply(
            lambda text: hashlib.sha256(text.encode()).hexdigest()
        )
        return program(
            "lws-webhook",
            cluster_name=cluster.cluster_name,
            create="webhook",
            environment={**access(cluster), "LOCKSTEP_RESTARTED_FOR": restarted_for},
            opts=cluster.child(self, depends_on=list(self.ready)),
        )

    def _process(
        self,
        operator: str,
        args: PlatformArgs,
        version: str,
        config: pulumi.Input[str] | None,
        after: Sequence[pulumi.Resource | None],
    ) -> HostOperator:
        return HostOperator(
            f"{operator}-operator",
            HostOperatorArgs(args.cluster, operator, version, config or ""),
            # It starts from the ConfigMap and the ServiceAccount that its chart has made.
            opts=args.cluster.child(self, depends_on=[part for part in after if part]),
        )
