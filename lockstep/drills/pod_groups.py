"""What drills do to PodGroups."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from lightkube import ApiError
from lightkube.types import PatchType

from lockstep.drills.context import Ground
from lockstep.kube import client as kube


def patch(ground: Ground, name: str, spec: dict[str, Any]) -> None:
    """Change some fields; LWS makes PodGroups and does not touch them afterwards."""
    ground.client.patch(
        kube.PodGroup, name, {"spec": spec}, namespace=ground.namespace, patch_type=PatchType.MERGE
    )


def delete(ground: Ground, name: str) -> None:
    """Delete one, if the garbage collector has not done so yet."""
    try:
        ground.client.delete(kube.PodGroup, name, namespace=ground.namespace)
    except ApiError as error:
        if kube.status_of(error) != HTTPStatus.NOT_FOUND:
            raise
