"""Lockstep: gang scheduling on Kubernetes, deployed and judged by one `pulumi up`."""

import pulumi

import settings
from components.charts import local_charts
from components.cluster import create_cluster
from components.platform import Platform, PlatformArgs
from components.scenarios import SCENARIOS, ScenarioArgs
from lockstep.scenarios.registry import SCENARIOS as REGISTRY

config = settings.load_or_exit()
chosen = config.scenarios.names
wanted = config.cluster
cluster = create_cluster(
    wanted.provider,
    wanted.name,
    kubernetes_version=wanted.kubernetes_version,
    worker_cpu=wanted.worker_cpu,
    worker_memory=wanted.worker_memory,
    # Without scenarios there must still be workers for the operators.
    kind_workers=config.scenarios.workers * max(1, len(chosen)),
    kind_node_image=wanted.kind_node_image,
    context=wanted.kube_context or "",
    kubeconfig=wanted.kubeconfig,
    export_kubeconfig=wanted.export_kubeconfig,
)

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
