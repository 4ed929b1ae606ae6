"""Restore the configuration that LWS had before Lockstep changed it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.core.resource import NamespacedResource
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.lws.gang_config import (
    CONFIG_ANNOTATION,
    LWS_CONFIG_KEY,
    LWS_CONFIG_MAP,
    LWS_MANAGER,
    LWS_NAMESPACE,
    REVISION_ANNOTATION,
    without_scheduler_provider,
)

# What a Pulumi patch leaves on the object it patched.
_LEFT = {"pulumi.com/patchForce": None, REVISION_ANNOTATION: None}


def restore(client: Client) -> None:
    """Undo the patches, and so restart LWS; nothing to do if LWS is no longer installed."""
    try:
        found = client.get(ConfigMap, LWS_CONFIG_MAP, namespace=LWS_NAMESPACE)
    except ApiError as error:
        if error.status.code == HTTPStatus.NOT_FOUND:
            return
        raise LockstepError(f"cannot read the config of LWS: {error}") from error
    change: dict[str, Any] = {"metadata": {"annotations": _LEFT}}
    text = (found.data or {}).get(LWS_CONFIG_KEY)
    if text is not None:
        change["data"] = {LWS_CONFIG_KEY: without_scheduler_provider(text)}
    _patch(client, ConfigMap, LWS_CONFIG_MAP, change)
    restart = {"metadata": {"annotations": {CONFIG_ANNOTATION: None}}}
    change = {"metadata": {"annotations": _LEFT}, "spec": {"template": restart}}
    _patch(client, Deployment, LWS_MANAGER, change)


def _patch(
    client: Client, kind: type[NamespacedResource], name: str, change: dict[str, Any]
) -> None:
    try:
        client.patch(kind, name, change, namespace=LWS_NAMESPACE, patch_type=PatchType.MERGE)
    except ApiError as error:
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise LockstepError(f"cannot restore {kind.__name__} {name}: {error}") from error
