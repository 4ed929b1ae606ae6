"""LWS: the operator that creates the pods of a LeaderWorkerSet, and a PodGroup per group."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep import versions
from lockstep.lws import names, post_renderer

from .charts import relative_path
from .cluster.base import Cluster


@dataclass(frozen=True)
class LwsArgs:
    """Arguments of LeaderWorkerSetOperator."""

    cluster: Cluster
    """The cluster to install LWS in."""
    version: str
    """The version, without a leading v."""
    chart: str | None = None
    """The path of a chart on this machine; None for the published chart."""


class LeaderWorkerSetOperator(pulumi.ComponentResource):
    """LWS by its own chart, with its image pinned; `GangConfig` turns gang scheduling on.

    A command installs the CRDs before the chart, so that running LeaderWorkerSets survive an
    upgrade. Typed resources would not do: a CRD may only be deleted while it has no objects, which
    no resource option says, and the upgrade must be refused before Helm starts (lws#880, lws#797).
    """

    release: kubernetes.helm.v3.Release
    """The Helm release: everything that uses LWS waits for it."""

    def __init__(
        self, name: str, args: LwsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"version": args.version}
        super().__init__("lockstep:platform:LeaderWorkerSetOperator", name, props, opts)
        cluster = args.cluster
        definitions = cluster.command(
            f"{name}-crds",
            create="crds apply",
            delete="crds remove",
            environment={"LOCKSTEP_CHART": args.chart or "", "LOCKSTEP_VERSION": args.version},
            opts=cluster.opts(self),
        )
        # Created here and not by Helm, which would not delete it.
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=names.NAMESPACE),
            opts=cluster.opts(self, depends_on=[definitions]),
        )
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name="lws",
            namespace=namespace.metadata.name,
            chart=args.chart or versions.LWS_CHART,
            version=None if args.chart else args.version,
            values=chart_values(args),
            skip_crds=args.chart is not None,
            # A patch could add a URL to a webhook but not take its Service away.
            postrender=relative_path(Path(post_renderer.__file__))
            if args.chart or cluster.host
            else None,
            skip_await=cluster.host is not None,
            disable_openapi_validation=True,
            opts=cluster.opts(
                self,
                # The manager starts with the chart and needs the CRDs of its own version; and the
                # step refuses an upgrade that would harm running sets.
                depends_on=[definitions],
                # Deleting an owned cluster deletes the release. If the cluster was lost and is
                # recreated, Helm could not reach the old release to uninstall it.
                retain_on_delete=cluster.is_owned,
            ),
        )
        self.register_outputs({"release": self.release.name})


def chart_values(args: LwsArgs) -> dict[str, Any]:
    """Return values over the chart's own, whose image tag moves and whose manager requests a core.

    The address of a webhook on the host goes into the pod's annotations: a Helm post-renderer gets
    the manifests and nothing else.
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
