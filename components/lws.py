"""LWS: the operator that turns a LeaderWorkerSet into groups of pods, and groups into PodGroups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep import versions
from lockstep.lws import gang_config, post_renderer

from .cluster.base import Cluster

RELEASE = "lws"
NAMESPACE = gang_config.LWS_NAMESPACE
MANAGER = gang_config.LWS_MANAGER
CONFIG_MAP = gang_config.LWS_CONFIG_MAP
CONFIG_KEY = gang_config.LWS_CONFIG_KEY


@dataclass(frozen=True)
class LwsArgs:
    """Where LWS goes, and which."""

    cluster: Cluster
    """The cluster to install it in."""
    version: str
    """Pinned version, without a leading v."""
    chart: str | None = None
    """A chart on this machine, for offline use; None takes the published one."""


class LeaderWorkerSetOperator(pulumi.ComponentResource):
    """LWS by its own chart, with its image pinned; gang scheduling is `GangConfig`'s part.

    The kinds that it defines are installed apart, before it, so that another version finds them as
    it needs them and running LeaderWorkerSets outlive the upgrade.
    """

    release: kubernetes.helm.v3.Release
    """What has to be there before a LeaderWorkerSet or a change of the manager's config."""

    def __init__(
        self, name: str, args: LwsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:LeaderWorkerSetOperator", name, None, opts)
        cluster = args.cluster
        definitions = cluster.command(
            f"{name}-crds",
            create="crds apply",
            delete="crds remove",
            environment={"LOCKSTEP_CHART": args.chart or "", "LOCKSTEP_VERSION": args.version},
            opts=cluster.opts(self),
        )
        # Made here and not by Helm, which would leave it behind.
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=NAMESPACE),
            opts=cluster.opts(self, depends_on=[definitions]),
        )
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=namespace.metadata.name,
            **chart_source(args.chart, args.version),
            values=chart_values(args),
            skip_crds=args.chart is not None,
            # A patch could add a URL to a webhook but not take its Service away.
            postrender=str(Path(post_renderer.__file__)) if args.chart or cluster.host else None,
            skip_await=cluster.host is not None,
            opts=cluster.opts(
                self,
                # What a manager watches must be served, and must be right, before the chart starts
                # it; and that step refuses what would harm an LWS that is there.
                depends_on=[definitions],
                # Gone with a cluster of ours. When that is lost and made anew, the old release
                # cannot be asked to leave: Helm insists on reaching it.
                retain_on_delete=cluster.is_owned,
            ),
        )
        self.register_outputs({"release": self.release.name})


def chart_source(chart: str | None, version: str) -> dict[str, Any]:
    """Name the chart: a path says itself which version it is."""
    return {"chart": chart} if chart else {"chart": versions.LWS_CHART, "version": version}


def chart_values(args: LwsArgs) -> dict[str, Any]:
    """Values over the chart's own, whose image is a moving tag and whose manager asks for a core.

    The host's webhook address rides on the pod's annotations: a Helm post-renderer gets the
    manifests and nothing else.
    """
    values: dict[str, Any] = {
        "replicaCount": 0 if args.cluster.host else 1,
        "image": {"manager": {"tag": f"v{args.version}", "pullPolicy": "IfNotPresent"}},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
    }
    if host := args.cluster.host:
        values["podAnnotations"] = {
            post_renderer.URL_ANNOTATION: host.webhook_url,
            post_renderer.CA_ANNOTATION: host.webhook_ca,
        }
    return values
