"""Lockstep: gang scheduling on Kubernetes, deployed and judged by one `pulumi up`."""

import pulumi

import settings
from components.charts import local_charts
from components.cluster.base import Cluster
from components.platform import Platform, PlatformArgs
from components.scenarios import SCENARIOS, ScenarioArgs
from lockstep.scenarios.registry import SCENARIOS as REGISTRY


def create_cluster(config: settings.Settings) -> Cluster:
    """Create the cluster that the stack asks for; only its provider is imported."""
    wanted, scenarios = config.cluster, config.scenarios
    if wanted.provider == "kind":
        from components.cluster.kind import KindCluster, KindClusterArgs

        # Without scenarios there must still be workers for the operators.
        workers = scenarios.workers * max(1, len(scenarios.names))
        args = KindClusterArgs(wanted.name, workers, wanted.kind_node_image)
        return KindCluster("cluster", args)
    if wanted.provider == "existing":
        from components.cluster.existing import ExistingCluster, ExistingClusterArgs

        context = wanted.kube_context or ""
        return ExistingCluster(
            "cluster",
            ExistingClusterArgs(wanted.name, context, wanted.kubeconfig, wanted.export_kubeconfig),
        )
    from components.cluster.kwok import KwokCluster, KwokClusterArgs
    from lockstep.local import embedded_cluster

    incarnation, lost = embedded_cluster.incarnation(wanted.name)
    if lost:
        pulumi.log.warn(f"the embedded cluster {wanted.name} will be recreated: {lost}")
    size = wanted.worker_cpu, wanted.worker_memory
    return KwokCluster(
        "cluster", KwokClusterArgs(wanted.name, wanted.kubernetes_version, *size, incarnation)
    )


config = settings.load_or_exit()
chosen = config.scenarios.names
cluster = create_cluster(config)

# Volcano and LWS, and what makes them schedule gangs.
platform = Platform(
    "platform",
    PlatformArgs(
        cluster,
        config.platform.volcano_version,
        config.platform.lws_version,
        config.platform.gang_scheduling,
        config.platform.install_volcano,
        config.platform.install_lws,
        next((conf for name in chosen if (conf := SCENARIOS[name].scheduler_conf)), None),
        local_charts() if config.platform.charts == "local" else None,
    ),
    opts=cluster.opts(),
)

# Scenarios, each with workers of its own, a workload, and a verdict.
verdicts = {
    name: SCENARIOS[name](
        name,
        ScenarioArgs(
            cluster=cluster,
            pool=cluster.pool(name, config.scenarios.workers),
            sizes=config.scenarios.sizes(REGISTRY[name]),
            gang_scheduling=config.platform.gang_scheduling,
            versions=config.versions,
            installed=platform.installed,
            ready=platform.ready,
        ),
        opts=cluster.opts(),
    ).verdict
    for name in chosen
}

pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("cluster", {"name": cluster.cluster_name, "provider": cluster.provider_name})
pulumi.export("versions", config.versions)
pulumi.export("verdicts", verdicts)
