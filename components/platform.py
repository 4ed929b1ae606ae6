"""Gang scheduling, installed: Volcano, LWS, and what makes the two work together."""

from dataclasses import dataclass

import pulumi

from .charts import chart_path
from .cluster.base import Cluster
from .gang_config import GangConfig, GangConfigArgs
from .lws import LeaderWorkerSetOperator, LwsArgs
from .operators import HostOperator, HostOperatorArgs
from .rbac import PodGroupRights, PodGroupRightsArgs
from .volcano import Volcano, VolcanoArgs


@dataclass(frozen=True)
class PlatformArgs:
    """Arguments of Platform."""

    cluster: Cluster
    """The cluster that gets gang scheduling."""
    volcano_version: str
    """The version of Volcano, without a leading v."""
    lws_version: str
    """The version of LWS, without a leading v."""
    gang_scheduling: bool = True
    """Whether LWS creates PodGroups: the ConfigMap patch and the permission, on or off."""
    install_volcano: bool = True
    """False where the cluster has Volcano already."""
    install_lws: bool = True
    """False where the cluster has LWS already."""
    scheduler_conf: str | None = None
    """Volcano's scheduler configuration; None keeps the chart's own."""
    charts: str | None = None
    """A folder with the charts, as `local_charts` returns it; None for the published charts."""


class Platform(pulumi.ComponentResource):
    """Everything between a bare cluster and the first gang."""

    installed: list[pulumi.Resource]
    """What a recorder has to wait for: the kinds of objects that it watches."""
    ready: list[pulumi.Resource]
    """What a workload has to wait for."""

    def __init__(
        self, name: str, args: PlatformArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {
            "volcanoVersion": args.volcano_version if args.install_volcano else None,
            "lwsVersion": args.lws_version if args.install_lws else None,
            "gangScheduling": args.gang_scheduling,
        }
        super().__init__("lockstep:platform:Platform", name, props, opts)
        cluster = args.cluster
        volcano = lws = None
        if args.install_volcano:
            chart = chart_path(args.charts, "volcano", args.volcano_version)
            volcano = Volcano(
                f"{name}-volcano",
                VolcanoArgs(cluster, args.volcano_version, chart, args.scheduler_conf),
                opts=cluster.opts(self),
            )
        if args.install_lws:
            chart = chart_path(args.charts, "lws", args.lws_version)
            lws = LeaderWorkerSetOperator(
                f"{name}-lws", LwsArgs(cluster, args.lws_version, chart), opts=cluster.opts(self)
            )
        config = GangConfig(
            f"{name}-gang-config",
            GangConfigArgs(cluster, lws.release if lws else None, args.gang_scheduling),
            opts=cluster.opts(self),
        )
        self.installed = [part for part in (volcano, lws) if part]
        self.ready = [*self.installed, config]
        if args.gang_scheduling:
            rights = PodGroupRights(
                f"{name}-podgroup-rights", PodGroupRightsArgs(cluster), opts=cluster.opts(self)
            )
            self.ready.append(rights)
        if cluster.host:
            # Volcano and LWS start independently: LWS first needs PodGroups for the first set.
            after = {
                "volcano": [part for part in self.ready if part is volcano],
                "lws": [part for part in self.ready if part is not volcano],
            }
            operators = [
                HostOperatorArgs(
                    cluster, "volcano", args.volcano_version, args.scheduler_conf or ""
                ),
                HostOperatorArgs(cluster, "lws", args.lws_version, config.config),
            ]
            self.ready += [
                HostOperator(
                    f"{name}-{each.operator}-operator",
                    each,
                    # It starts from the ConfigMap and the ServiceAccount that its chart creates.
                    opts=cluster.opts(self, depends_on=after[each.operator]),
                )
                for each in operators
            ]
        else:
            # Sets can be created only when the webhook answers, after every restart of LWS.
            webhook = cluster.command(
                f"{name}-lws-webhook",
                create="webhook",
                rerun_when=config.restarted_for,
                opts=cluster.opts(self, depends_on=list(self.ready)),
            )
            self.ready.append(webhook)
        self.register_outputs({})
