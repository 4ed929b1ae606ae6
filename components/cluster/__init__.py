"""Where the platform runs: one file per provider behind the interface of `base`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from components.cluster.base import Cluster
    from settings import Settings


def create(settings: Settings) -> Cluster:
    """Make the cluster that a stack asks for; only its provider is imported."""
    cluster, scenarios = settings.cluster, settings.scenarios
    if cluster.provider == "kind":
        from components.cluster.kind import KindCluster, KindClusterArgs
        from lockstep import versions
        from toolchain import kind_image

        # Without scenarios there must still be workers for the operators.
        workers = scenarios.workers * max(1, len(scenarios.names))
        # Built here where no image registry can be reached, else kind's public one.
        image = kind_image.find() or versions.KIND_NODE_IMAGE
        return KindCluster("cluster", KindClusterArgs(cluster.name, workers, image))
    if cluster.provider == "existing":
        from components.cluster.existing import ExistingCluster, ExistingClusterArgs

        context = cluster.kube_context or ""
        return ExistingCluster(
            "cluster", ExistingClusterArgs(cluster.name, context, cluster.kubeconfig)
        )
    from components.cluster.kwok import KwokCluster, KwokClusterArgs

    return KwokCluster(
        "cluster",
        KwokClusterArgs(
            cluster.name, cluster.kubernetes_version, cluster.worker_cpu, cluster.worker_memory
        ),
    )
