"""Where the platform runs: one file per provider behind the interface in `base`."""

import pulumi

from .base import Cluster


def create_cluster(
    provider: str,
    name: str,
    *,
    kubernetes_version: str,
    worker_cpu: str,
    worker_memory: str,
    kind_workers: int,
    kind_node_image: str,
    context: str,
    kubeconfig: str | None,
    export_kubeconfig: bool,
) -> Cluster:
    """Create the cluster of a provider; only that provider is imported."""
    if provider == "kind":
        from .kind import KindCluster, KindClusterArgs

        return KindCluster("cluster", KindClusterArgs(name, kind_workers, kind_node_image))
    if provider == "existing":
        from .existing import ExistingCluster, ExistingClusterArgs

        existing = ExistingClusterArgs(name, context, kubeconfig, export_kubeconfig)
        return ExistingCluster("cluster", existing)
    from lockstep.local import embedded_cluster

    from .kwok import KwokCluster, KwokClusterArgs

    plan = embedded_cluster.plan(name)
    if plan.warning:
        pulumi.log.warn(plan.warning)
    args = KwokClusterArgs(
        name, kubernetes_version, worker_cpu, worker_memory, plan.incarnation, plan.run
    )
    return KwokCluster("cluster", args)
