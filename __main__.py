"""Lockstep: gang scheduling on Kubernetes, deployed and judged by one `pulumi up`."""

import pulumi

import settings
from components.charts import local_charts
from components.cluster import create_cluster
from components.platform import Platform, PlatformArgs
from components.scenarios import SCENARIOS, ScenarioArgs, scheduler_conf
from lockstep.scenarios.registry import SCENARIOS as REGISTRY

config = settings.load_or_exit()
settings.warn_of_old_versions(config)
cluster = create_cluster(
    config.cluster_provider,
    config.cluster_name,
    kubernetes_version=config.kubernetes_version,
    worker_cpu=config.worker_cpu,
    worker_memory=config.worker_memory,
    # Without scenarios there must still be workers for the operators.
    kind_workers=config.workers_per_scenario * max(1, len(config.scenarios)),
    kind_node_image=config.kind_node_image,
    context=config.kube_context,
    kubeconfig=config.kubeconfig or None,
    export_kubeconfig=config.export_kubeconfig,
)

# Volcano and LWS, and what makes them schedule gangs.
platform = Platform(
    "platform",
    PlatformArgs(
        cluster,
        config.volcano_version,
        config.lws_version,
        config.gang_scheduling,
        config.install_volcano,
        config.install_lws,
        scheduler_conf(config.scenarios, config.volcano_version),
        local_charts() if config.charts == "local" else None,
    ),
    opts=cluster.opts(),
)

# Scenarios, each with workers of its own, a workload, and a verdict.
verdicts = {
    name: SCENARIOS[name](
        name,
        ScenarioArgs(
            cluster=cluster,
            pool=cluster.pool(name, config.workers_per_scenario),
            sizes=config.sizes(REGISTRY[name]),
            gang_scheduling=config.gang_scheduling,
            versions=config.versions,
            installed=platform.installed,
            ready=platform.ready,
        ),
        opts=cluster.opts(),
    ).verdict
    for name in config.scenarios
}

pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("cluster", {"name": cluster.cluster_name, "provider": cluster.provider_name})
pulumi.export("versions", config.versions)
pulumi.export("verdicts", verdicts)
