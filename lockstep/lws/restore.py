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
from lockstep.lws import names
from lockstep.lws.config_text import original_text

# What a Pulumi patch leaves on the object it patched.
_LEFT = {
    "pulumi.com/patchForce": None,
    names.REVISION_ANNOTATION: None,
    names.ORIGINAL_ANNOTATION: None,
}


def restore(client: Client) -> None:
    """Undo the patches, and so restart LWS; nothing to do if LWS is no longer installed."""
    try:
        found = client.get(ConfigMap, names.CONFIG_MAP, namespace=names.NAMESPACE)
    except ApiError as error:
        if error.status.code == HTTPStatus.NOT_FOUND:
            return
        raise LockstepError(f"cannot read the config of LWS: {error}") from error
    change: dict[str, Any] = {"metadata": {"annotations": _LEFT}}
    text = (found.data or {}).get(names.CONFIG_KEY)
    if text is not None:
        annotations = (found.metadata.annotations if found.metadata else None) or {}
        kept = annotations.get(names.ORIGINAL_ANNOTATION)
        change["data"] = {names.CONFIG_KEY: original_text(text, kept)}
    _patch(client, ConfigMap, names.CONFIG_MAP, change)
    restart = {"metadata": {"annotations": {names.CONFIG_ANNOTATION: None}}}
    change = {"metadata": {"annotations": _LEFT}, "spec": {"template": restart}}
    _patch(client, Deployment, names.MANAGER, change)


def _patch(
    client: Client, kind: type[NamespacedResource], name: str, change: dict[str, Any]
) -> None:
    try:
        client.patch(kind, name, change, namespace=names.NAMESPACE, patch_type=PatchType.MERGE)
    except ApiError as error:
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise LockstepError(f"cannot restore {kind.__name__} {name}: {error}") from error
