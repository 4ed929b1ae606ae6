"""The permission of LWS to create PodGroups: revoked and granted by a drill, and checked."""

from lightkube import Client
from lightkube.models.authorization_v1 import ResourceAttributes, SubjectAccessReviewSpec
from lightkube.resources.authorization_v1 import SubjectAccessReview
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from lockstep.lws import names


def take(client: Client, cluster: str) -> None:
    """Revoke the permission: the binding keeps no subjects."""
    _bind(client, cluster, [])


def give(client: Client, cluster: str) -> None:
    """Grant the permission to the service account of LWS, as the Pulumi program does."""
    account = {"kind": "ServiceAccount", "name": names.MANAGER, "namespace": names.NAMESPACE}
    _bind(client, cluster, [account])


def _bind(client: Client, cluster: str, subjects: list[dict[str, str]]) -> None:
    # Edited and not deleted: it stays the object that Pulumi created.
    client.patch(
        ClusterRoleBinding,
        f"{cluster}{names.RIGHTS_SUFFIX}",
        {"subjects": subjects},
        patch_type=PatchType.MERGE,
    )


def are_given(client: Client, namespace: str) -> bool:
    """Ask the API server whether any rule lets LWS create PodGroups in a namespace."""
    review = SubjectAccessReview(
        spec=SubjectAccessReviewSpec(
            user=f"system:serviceaccount:{names.NAMESPACE}:{names.MANAGER}",
            resourceAttributes=ResourceAttributes(
                verb="create",
                group="scheduling.volcano.sh",
                resource="podgroups",
                namespace=namespace,
            ),
        )
    )
    answer = client.create(review)
    return bool(answer.status and answer.status.allowed)
