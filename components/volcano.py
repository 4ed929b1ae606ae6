"""Volcano: the batch scheduler that places all pods of a gang or none."""

import hashlib
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.meta.v1 import ObjectMetaPatchArgs

from lockstep import versions
from lockstep.errors import LockstepError
from lockstep.lws.names import CONFIG_ANNOTATION

from . import scheduler_conf
from .cluster.base import Cluster

NAMESPACE = "volcano-system"
SCHEDULER_NAME = "volcano"
SCHEDULER = "volcano-scheduler"
QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"

_SMALL = {"requests": {"cpu": "25m", "memory": "64Mi"}}


@dataclass(frozen=True)
class VolcanoArgs:
    """Arguments of Volcano."""

    cluster: Cluster
    """The cluster to install Volcano in."""
    version: str
    """The version, without a leading v."""
    chart: str | None = None
    """The path of a chart on this machine; None for the published chart."""
    scheduler_conf: str | None = None
    """The scheduler's configuration; None keeps the chart's own. An unknown name is an error."""


class Volcano(pulumi.ComponentResource):
    """Volcano by its own chart, with images pinned to the version that was asked for."""

    release: kubernetes.helm.v3.Release
    """The Helm release: everything that uses PodGroups waits for it."""

    def __init__(
        self, name: str, args: VolcanoArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:Volcano", name, {"version": args.version}, opts)
        if args.scheduler_conf:
            _check(args.scheduler_conf, args.version)
        cluster = args.cluster
        # Created here and not by Helm, which would not delete it.
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
            chart=args.chart or versions.VOLCANO_CHART,
            version=None if args.chart else args.version,
            repository_opts=None
            if args.chart
            else kubernetes.helm.v3.RepositoryOptsArgs(repo=versions.VOLCANO_CHART_REPO),
            values=chart_values(args),
            skip_await=cluster.host is not None,
            disable_openapi_validation=True,
            # Deleting an owned cluster deletes the release. If the cluster was lost and is
            # recreated, Helm could not reach the old release to uninstall it.
            opts=cluster.opts(self, retain_on_delete=cluster.is_owned),
        )
        if args.scheduler_conf and cluster.host is None:
            self._restart(name, args.scheduler_conf, cluster)
        self.register_outputs({"release": self.release.name})

    def _restart(self, name: str, conf: str, cluster: Cluster) -> None:
        """Restart the scheduler: a kubelet takes up to a minute to update a ConfigMap in a pod."""
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


def _check(conf: str, version: str) -> None:
    try:
        scheduler_conf.check(conf, version)
    except LockstepError as error:
        raise pulumi.RunError(str(error)) from error  # which Pulumi prints as one line


def chart_values(args: VolcanoArgs) -> dict[str, Any]:
    """Return values over the chart's own: pinned images, small requests, admission where it works.

    With operators on the host there is no pod to serve the admission webhook: the chart's
    ValidatingAdmissionPolicies check the same rules inside the API server.
    """
    on_host = args.cluster.host is not None
    replicas = 0 if on_host else 1
    return {
        "basic": {"image_tag_version": f"v{args.version}", "image_pull_policy": "IfNotPresent"},
        "custom": {
            "controller_replicas": replicas,
            "scheduler_replicas": replicas,
            "admission_replicas": replicas,
            "admission_enable": not on_host,
            "vap_enable": on_host,
            "controller_resources": _SMALL,
            "scheduler_resources": _SMALL,
            "admission_resources": _SMALL,
            **({"scheduler_config_override": conf} if (conf := args.scheduler_conf) else {}),
        },
    }
