"""Volcano: the batch scheduler that places a gang whole or not at all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.meta.v1 import ObjectMetaPatchArgs

from lockstep import versions
from lockstep.lws.gang_config import CONFIG_ANNOTATION

from .cluster.base import Cluster

NAMESPACE = "volcano-system"
SCHEDULER_NAME = "volcano"
SCHEDULER = "volcano-scheduler"
QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"

_SMALL = {"requests": {"cpu": "25m", "memory": "64Mi"}}


@dataclass(frozen=True)
class VolcanoArgs:
    """Where Volcano goes, and which."""

    cluster: Cluster
    """The cluster to install it in."""
    version: str
    """Pinned version, without a leading v."""
    chart: str | None = None
    """A chart on this machine, for offline use; None takes the published one."""
    scheduler_conf: str | None = None
    """The scheduler's configuration; None keeps the chart's own."""


class Volcano(pulumi.ComponentResource):
    """Volcano by its own chart, with images pinned to the version that was asked for."""

    release: kubernetes.helm.v3.Release
    """What has to be there before anything uses a PodGroup."""

    def __init__(
        self, name: str, args: VolcanoArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:Volcano", name, None, opts)
        cluster = args.cluster
        # Made here and not by Helm, which would leave it behind.
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=NAMESPACE),
            opts=cluster.opts(self),
        )
        # A Release, not a Chart: the admission certificate comes from Helm hooks, which a Chart
        # does not run (pulumi-kubernetes#3284).
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name="volcano",
            namespace=namespace.metadata.name,
            **chart_source(args.chart, args.version),
            values=chart_values(
                args.version,
                host_operators=cluster.host is not None,
                scheduler_conf=args.scheduler_conf,
            ),
            skip_await=cluster.host is not None,
            # Gone with a cluster of ours. When that is lost and made anew, the old release cannot
            # be asked to leave: Helm insists on reaching it.
            opts=cluster.opts(self, retain_on_delete=cluster.is_owned),
        )
        if args.scheduler_conf and cluster.host is None:
            self._restart(name, args.scheduler_conf, cluster)
        self.register_outputs({"release": self.release.name})

    def _restart(self, name: str, conf: str, cluster: Cluster) -> None:
        """Roll the scheduler out again: a kubelet takes a minute to bring a ConfigMap to a pod."""
        kubernetes.apps.v1.DeploymentPatch(
            f"{name}-restart",
            metadata=ObjectMetaPatchArgs(
                name=SCHEDULER,
                namespace=NAMESPACE,
                annotations={"pulumi.com/patchForce": "true"},
            ),
            spec=kubernetes.apps.v1.DeploymentSpecPatchArgs(
                template=kubernetes.core.v1.PodTemplateSpecPatchArgs(
                    metadata=ObjectMetaPatchArgs(
                        annotations={CONFIG_ANNOTATION: hashlib.sha256(conf.encode()).hexdigest()}
                    )
                )
            ),
            # The patch names the Deployment, so only this says that its chart comes first.
            opts=cluster.opts(self, depends_on=[self.release]),
        )


def chart_source(chart: str | None, version: str) -> dict[str, Any]:
    """Name the chart: a path says itself which version it is."""
    if chart is not None:
        return {"chart": chart}
    return {
        "chart": versions.VOLCANO_CHART,
        "version": version,
        "repository_opts": kubernetes.helm.v3.RepositoryOptsArgs(repo=versions.VOLCANO_CHART_REPO),
    }


def chart_values(
    version: str, *, host_operators: bool, scheduler_conf: str | None = None
) -> dict[str, Any]:
    """Values over the chart's own: pinned images, laptop-size requests, admission where it works.

    With operators on the host there is no pod to serve the admission webhook: the chart's
    ValidatingAdmissionPolicies check the same rules inside the API server.
    """
    replicas = 0 if host_operators else 1
    return {
        "basic": {"image_tag_version": f"v{version}", "image_pull_policy": "IfNotPresent"},
        "custom": {
            "controller_replicas": replicas,
            "scheduler_replicas": replicas,
            "admission_replicas": replicas,
            "admission_enable": not host_operators,
            "vap_enable": host_operators,
            "controller_resources": _SMALL,
            "scheduler_resources": _SMALL,
            "admission_resources": _SMALL,
            **({"scheduler_config_override": scheduler_conf} if scheduler_conf else {}),
        },
    }
