"""The pod of every scenario: tiny, pinned, and allowed under the strictest Pod Security level."""

from collections.abc import Mapping

from pulumi_kubernetes.core import v1
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from lockstep import versions

from ..pools import WorkerPool


def labels(scenario: str) -> dict[str, str]:
    """What the scenario's workload and pods are found by."""
    return {"app.kubernetes.io/part-of": "lockstep", "app.kubernetes.io/name": scenario}


def template(
    pool: WorkerPool,
    labels: Mapping[str, str],
    scheduler_name: str | None = None,
    priority_class: str | None = None,
) -> v1.PodTemplateSpecArgs:
    """A pod that does nothing, in the pool and of the pool's size: two fill a worker."""
    return v1.PodTemplateSpecArgs(
        metadata=ObjectMetaArgs(labels=dict(labels)),
        spec=v1.PodSpecArgs(
            scheduler_name=scheduler_name,
            priority_class_name=priority_class,
            node_selector=dict(pool.label),
            containers=[_container(pool)],
            security_context=v1.PodSecurityContextArgs(
                run_as_non_root=True,
                run_as_user=65535,
                seccomp_profile=v1.SeccompProfileArgs(type="RuntimeDefault"),
            ),
            automount_service_account_token=False,
            enable_service_links=False,
            # Nothing to finish: tearing down must not wait for it.
            termination_grace_period_seconds=1,
        ),
    )


def _container(pool: WorkerPool) -> v1.ContainerArgs:
    return v1.ContainerArgs(
        name="pause",
        image=versions.WORKLOAD_IMAGE,
        resources=v1.ResourceRequirementsArgs(
            requests={"cpu": pool.pod_cpu, "memory": pool.pod_memory}
        ),
        security_context=v1.SecurityContextArgs(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=v1.CapabilitiesArgs(drop=["ALL"]),
        ),
    )
