"""Lockstep: gang scheduling on Kubernetes, deployed and judged by one `pulumi up`."""

import pulumi

import settings
from components import cluster as clusters
from components.platform import Platform, PlatformArgs
from components.scenarios import SCENARIOS, ScenarioArgs
from components.scheduler_conf import PREEMPTION

config = settings.load_or_exit()

# A cluster: embedded, by kind, or one that is there already.
cluster = clusters.create(config)

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
        PREEMPTION if "preemption" in config.scenarios.names else None,
    ),
    opts=cluster.child(None),
)

# Scenarios, each with workers of its own, a workload, and a verdict.
verdicts = {
    name: SCENARIOS[name](
        name,
        ScenarioArgs(
            cluster=cluster,
            pool=cluster.pool(name, config.scenarios.workers),
            size=config.scenarios.group_size,
            groups=config.scenarios.groups,
            blocked=config.scenarios.tainted_workers,
            gang_scheduling=config.platform.gang_scheduling,
            versions=config.versions,
            installed=platform.installed,
            ready=platform.ready,
        ),
        opts=cluster.child(None),
    ).verdict
    for name in config.scenarios.names
}

pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("cluster", {"name": cluster.cluster_name, "provider": config.cluster.provider})
pulumi.export("versions", config.versions)
pulumi.export("verdicts", verdicts)
