"""Restore the configuration that LWS had before Lockstep changed it."""

from http import HTTPStatus
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.kube.client import ConfigMap, Deployment, find
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
        found = find(client, ConfigMap, names.CONFIG_MAP, names.NAMESPACE)
    except ApiError as error:
        raise LockstepError(f"cannot read the config of LWS: {error}") from error
    if found is None:
        return
    change: dict[str, Any] = {"metadata": {"annotations": _LEFT}}
    text = found.get("data", {}).get(names.CONFIG_KEY)
    if text is not None:
        kept = found["metadata"].get("annotations", {}).get(names.ORIGINAL_ANNOTATION)
        change["data"] = {names.CONFIG_KEY: original_text(text, kept)}
    _patch(client, ConfigMap, names.CONFIG_MAP, change)
    restart = {"metadata": {"annotations": {names.CONFIG_ANNOTATION: None}}}
    change = {"metadata": {"annotations": _LEFT}, "spec": {"template": restart}}
    _patch(client, Deployment, names.MANAGER, change)


def _patch(client: Client, kind: Any, name: str, change: dict[str, Any]) -> None:
    try:
        client.patch(kind, name, change, namespace=names.NAMESPACE, patch_type=PatchType.MERGE)
    except ApiError as error:
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise LockstepError(f"cannot restore {kind.__name__} {name}: {error}") from error
