"""`lockstep gang_config restore`: LWS as it was before Lockstep; the Pulumi program calls this."""

from __future__ import annotations

import argparse
from http import HTTPStatus
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.core.resource import NamespacedResource
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.kube import access
from lockstep.lws.gang_config import (
    CONFIG_ANNOTATION,
    LWS_CONFIG_KEY,
    LWS_CONFIG_MAP,
    LWS_MANAGER,
    LWS_NAMESPACE,
    REVISION_ANNOTATION,
    without_scheduler_provider,
)

HELP = "give LWS its own config back and restart it"

# What a Pulumi patch leaves on the object it patched.
_LEFT = {"pulumi.com/patchForce": None, REVISION_ANNOTATION: None}


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""
    parser.add_argument("action", choices=["restore"])


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    """Take our part out of the config, then of the manager's pods, which restarts it."""
    with access.cluster() as client:
        restore(client)
    return 0


def restore(client: Client) -> None:
    """Undo the patches; an LWS that is gone needs nothing."""
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
