"""LWS's right to make PodGroups: whose it is, and how a drill takes it away and gives it back."""

from __future__ import annotations

from lightkube import Client
from lightkube.models.authorization_v1 import ResourceAttributes, SubjectAccessReviewSpec
from lightkube.models.rbac_v1 import Subject
from lightkube.resources.authorization_v1 import SubjectAccessReview
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from lockstep.lws import gang_config

NAMESPACE = gang_config.LWS_NAMESPACE
ACCOUNT = gang_config.LWS_MANAGER
SUFFIX = gang_config.RIGHTS_SUFFIX
"""Ends the names of the role and its binding; they begin with the cluster's name."""


def take(client: Client, cluster: str) -> None:
    """Leave the binding without subjects: nobody has the right by it."""
    _bind(client, cluster, [])


def give(client: Client, cluster: str) -> None:
    """Bind LWS's service account, as the Pulumi program does; nothing happens if it is bound."""
    _bind(client, cluster, [Subject(kind="ServiceAccount", name=ACCOUNT, namespace=NAMESPACE)])


def _bind(client: Client, cluster: str, subjects: list[Subject]) -> None:
    # Edited, not deleted: it stays the object that Pulumi made.
    client.patch(
        ClusterRoleBinding,
        f"{cluster}{SUFFIX}",
        {"subjects": [subject.to_dict() for subject in subjects]},
        patch_type=PatchType.MERGE,
    )


def are_given(client: Client, namespace: str) -> bool:
    """Ask the API server whether LWS may create PodGroups in a namespace, by whatever rule."""
    review = SubjectAccessReview(
        spec=SubjectAccessReviewSpec(
            user=f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}",
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
