"""The permission of LWS to create PodGroups."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.lws import names

from .cluster.base import Cluster

# LWS creates a PodGroup per group and reads it through an informer, nothing else: it never updates
# a PodGroup nor its status, and a deleted leader's PodGroup is garbage-collected.
PODGROUP_VERBS = ["create", "get", "list", "watch"]


@dataclass(frozen=True)
class PodGroupRightsArgs:
    """Arguments of PodGroupRights."""

    cluster: Cluster
    """The cluster that LWS runs in."""


class PodGroupRights(pulumi.ComponentResource):
    """The permission of LWS to create PodGroups: its chart grants it only with its own switch."""

    def __init__(
        self, name: str, args: PodGroupRightsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"serviceAccount": names.MANAGER, "namespace": names.NAMESPACE}
        super().__init__("lockstep:platform:PodGroupRights", name, props, opts)
        # Cluster-wide objects: the name must differ from another stack's.
        metadata = kubernetes.meta.v1.ObjectMetaArgs(
            name=f"{args.cluster.cluster_name}{names.RIGHTS_SUFFIX}"
        )
        role = kubernetes.rbac.v1.ClusterRole(
            f"{name}-role",
            metadata=metadata,
            rules=[
                kubernetes.rbac.v1.PolicyRuleArgs(
                    api_groups=["scheduling.volcano.sh"],
                    resources=["podgroups"],
                    verbs=PODGROUP_VERBS,
                )
            ],
            opts=args.cluster.opts(self),
        )
        kubernetes.rbac.v1.ClusterRoleBinding(
            f"{name}-binding",
            metadata=metadata,
            role_ref=kubernetes.rbac.v1.RoleRefArgs(
                api_group="rbac.authorization.k8s.io",
                kind="ClusterRole",
                name=role.metadata.name,
            ),
            subjects=[
                kubernetes.rbac.v1.SubjectArgs(
                    kind="ServiceAccount", name=names.MANAGER, namespace=names.NAMESPACE
                )
            ],
            opts=args.cluster.opts(self),
        )
        self.register_outputs({"role": role.metadata.name})
