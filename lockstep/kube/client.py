"""Clients for any cluster that a kubeconfig names, and the kinds that Lockstep looks at.

The kinds are plain mappings, not models: the recorder reads a few fields of thousands of objects,
and importing the models of every API would be half of a command's start-up time.
"""

import contextlib
import ipaddress
import json
import os
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from lightkube import ALL_NS, ApiError, AsyncClient, Client, KubeConfig, SingleConfig
from lightkube.core.exceptions import ConfigError
from lightkube.core.resource import ApiInfo, ResourceDef
from lightkube.generic_resource import GenericGlobalResource, GenericNamespacedResource

from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig

__all__ = ["ALL_NS", "FAILURES", "ApiError", "AsyncClient", "Client", "async_client", "client"]

FIELD_MANAGER = "lockstep"

# An answer that is not what it should be. Not ValueError: it would hide errors of this program.
UNREADABLE = (msgspec.DecodeError, json.JSONDecodeError, UnicodeDecodeError)
# Everything that a request may fail with: the network, an HTTP status, an unreadable answer.
FAILURES = (httpx2.HTTPError, httpx2.StreamError, OSError, *UNREADABLE)
# The API server itself gives a request up after 60 s; a busy machine may need that long.
TIMEOUT = httpx2.Timeout(10, read=60)

_VERBS = ["get", "list", "watch", "global_list", "global_watch", "post", "patch", "delete"]


def client(path: str | None = None, context: str | None = None) -> Client:
    """Connect to the cluster of a kubeconfig file and context, or of kubectl's defaults."""
    return Client(**_options(path, context))


def async_client(path: str | None = None, context: str | None = None) -> AsyncClient:
    """Connect likewise, for many watches at once."""
    return AsyncClient(**_options(path, context))


def _options(path: str | None, context: str | None) -> dict[str, Any]:
    config = load(path, context)
    return {
        "config": config,
        "field_manager": FIELD_MANAGER,
        "trust_env": not _is_local(config),
        "timeout": TIMEOUT,
    }


async def get_text(client: AsyncClient, path: str) -> str:
    """Return the text at a path of the API server: lightkube itself only reads objects."""
    answer = await client._client._client.get(path)
    answer.raise_for_status()
    return str(answer.text)


@contextlib.contextmanager
def client_from_env() -> Iterator[Client]:
    """Connect to the cluster that the Pulumi program names in a command's environment.

    With a context alone, kubectl's default kubeconfig is used. A failed request inside the block
    becomes an error of one line.
    """
    path = os.environ.get("LOCKSTEP_KUBECONFIG") or None
    context = os.environ.get("LOCKSTEP_CONTEXT") or None
    if not (path or context):
        raise LockstepError("LOCKSTEP_KUBECONFIG is not set; set it to the path of a kubeconfig")
    with client(path, context) as connected:
        try:
            yield connected
        except FAILURES as error:
            message = f"request to the Kubernetes API failed: {explain(error)}"
            raise LockstepError(message) from error


def load(path: str | None = None, context: str | None = None) -> SingleConfig:
    """Choose a context of a kubeconfig, or the service account of the pod that this runs in."""
    is_default = not (path or os.environ.get("KUBECONFIG"))
    if is_default and not kubeconfig.files() and os.environ.get("KUBERNETES_SERVICE_HOST"):
        config = KubeConfig.from_service_account()
    else:
        config = _parse(kubeconfig.load(path))
    name = path or "kubeconfig"
    try:
        chosen = config.get(context)
    except (ConfigError, KeyError) as error:
        raise LockstepError(f"cannot use the {name}: {error}") from error
    if chosen is None or chosen.user is None:
        raise LockstepError(f"the {name} names no user for its context; pass --context")
    return chosen


def _parse(content: kubeconfig.Config) -> KubeConfig:
    for user in content["users"]:
        plugin = (user.get("user") or {}).get("exec")
        # lightkube knows only v1beta1 of credential plugins; the token in their answer is the same.
        if plugin and plugin.get("apiVersion") == "client.authentication.k8s.io/v1":
            plugin["apiVersion"] = "client.authentication.k8s.io/v1beta1"
    try:
        return KubeConfig.from_dict(content)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LockstepError(f"the kubeconfig is not valid: {error}") from error


def _is_local(config: SingleConfig) -> bool:
    """Whether the API server is on this machine, where no proxy of the environment applies."""
    host = urlsplit(config.cluster.server).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def explain(error: Exception) -> str:
    """The reason why a request failed, in one line."""
    if isinstance(error, ApiError) and error.status:
        return str(error.status.message)
    return str(error) or type(error).__name__


def status_of(error: Exception) -> int | None:
    """The HTTP status of a failed request or of an error inside a watch."""
    if isinstance(error, ApiError) and error.status and error.status.code:
        return int(error.status.code)
    if isinstance(error, httpx2.HTTPStatusError) and error.response is not None:
        return int(error.response.status_code)
    return None


def find(client: Client, kind: Any, name: str, namespace: str | None = None) -> Any | None:
    """Return the object of a kind and name, or None if it does not exist."""
    try:
        return client.get(kind, name, namespace=namespace)
    except ApiError as error:
        if status_of(error) == HTTPStatus.NOT_FOUND:
            return None
        raise


def delete_exactly(client: Client, kind: Any, name: str, namespace: str, uid: str) -> None:
    """Delete an object unless it does not exist, or is another of the same name.

    lightkube's own `delete` has no preconditions.
    """
    request = client._client.prepare_request("delete", kind, name=name, namespace=namespace)
    request.data = {"preconditions": {"uid": uid}}
    answer = client._client.send(client._client.build_adapter_request(request))
    if answer.status_code not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
        answer.raise_for_status()


def _kind(
    group: str, version: str, kind: str, plural: str, base: type[Any] = GenericNamespacedResource
) -> Any:
    info = ApiInfo(resource=ResourceDef(group, version, kind), plural=plural, verbs=_VERBS)
    return type(kind, (base,), {"_api_info": info})


Namespace = _kind("", "v1", "Namespace", "namespaces", GenericGlobalResource)
Node = _kind("", "v1", "Node", "nodes", GenericGlobalResource)
Definition = _kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    GenericGlobalResource,
)
Pod = _kind("", "v1", "Pod", "pods")
Event = _kind("", "v1", "Event", "events")
ConfigMap = _kind("", "v1", "ConfigMap", "configmaps")
Secret = _kind("", "v1", "Secret", "secrets")
Deployment = _kind("apps", "v1", "Deployment", "deployments")
ControllerRevision = _kind("apps", "v1", "ControllerRevision", "controllerrevisions")
LeaderWorkerSet = _kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")
PodGroup = _kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
