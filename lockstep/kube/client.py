"""Clients for any cluster that a kubeconfig names, and the kinds that Lockstep looks at.

The kinds are plain mappings, not models: the recorder reads a few fields of thousands of objects,
and importing the models of every API would be half of a command's start-up time.
"""

from __future__ import annotations

import ipaddress
import os
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import yaml
from lightkube import ALL_NS, ApiError, AsyncClient, Client, KubeConfig, SingleConfig
from lightkube.core.exceptions import ConfigError
from lightkube.core.resource import ApiInfo, ResourceDef
from lightkube.generic_resource import GenericGlobalResource, GenericNamespacedResource

from lockstep.errors import LockstepError

__all__ = ["ALL_NS", "FAILURES", "ApiError", "AsyncClient", "Client", "async_client", "client"]

FIELD_MANAGER = "lockstep"

# Everything that a request may fail with: the network, an HTTP status, an unreadable answer.
FAILURES = (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError)

_VERBS = ["get", "list", "watch", "global_list", "global_watch", "post", "patch", "delete"]


def client(kubeconfig: str | None = None, context: str | None = None) -> Client:
    """Connect to the cluster of a kubeconfig file and context, or of the user's own defaults."""
    config = load(kubeconfig, context)
    return Client(
        config=config,
        field_manager=FIELD_MANAGER,
        trust_env=not _is_local(config),
        # As long as the API server itself takes before it gives a request up; a busy machine may
        # need it.
        timeout=httpx2.Timeout(10, read=60),
    )


def async_client(kubeconfig: str | None = None, context: str | None = None) -> AsyncClient:
    """Connect likewise, for many watches at once."""
    config = load(kubeconfig, context)
    return AsyncClient(config=config, field_manager=FIELD_MANAGER, trust_env=not _is_local(config))


def load(kubeconfig: str | None = None, context: str | None = None) -> SingleConfig:
    """Choose a context: of a file, of the files in KUBECONFIG, or of the pod that we run in."""
    named = kubeconfig or os.environ.get("KUBECONFIG")
    files = [Path(part).expanduser() for part in (named or "~/.kube/config").split(os.pathsep)]
    there = [path for path in files if path.is_file()]
    if not there:
        if not named and os.environ.get("KUBERNETES_SERVICE_HOST"):
            return _chosen(Path("of this pod"), KubeConfig.from_service_account(), None)
        raise LockstepError(f"there is no kubeconfig {files[0]}; pass --kubeconfig")
    # Where there are several, the first that has what is asked for: as kubectl merges them.
    configs = [(path, _read(path)) for path in there]
    for path, config in configs:
        if context in config.contexts or (context is None and config.current_context):
            return _chosen(path, config, context)
    return _chosen(*configs[0], context)


def _read(path: Path) -> KubeConfig:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        return KubeConfig.from_dict(_readable(content), fname=path)
    except (OSError, KeyError, TypeError, AttributeError, ValueError, yaml.YAMLError) as error:
        raise LockstepError(f"{path} is not a kubeconfig: {error}") from error


def _chosen(path: Path, config: KubeConfig, context: str | None) -> SingleConfig:
    try:
        chosen = config.get(context)
    except (ConfigError, KeyError) as error:
        raise LockstepError(f"cannot use the kubeconfig {path}: {error}") from error
    if chosen is None or chosen.user is None:
        raise LockstepError(f"the kubeconfig {path} names no user for its context; pass --context")
    return chosen


def _readable(content: Any) -> Any:
    """Let the client use credential plugins of API v1: it knows v1beta1, and the token is alike."""
    for user in content.get("users") or ():
        plugin = (user.get("user") or {}).get("exec")
        if plugin and plugin.get("apiVersion") == "client.authentication.k8s.io/v1":
            plugin["apiVersion"] = "client.authentication.k8s.io/v1beta1"
    return content


def _is_local(config: SingleConfig) -> bool:
    """Whether the API server is on this machine: then no proxy of the environment applies."""
    host = urlsplit(config.cluster.server).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def explain(error: Exception) -> str:
    """Say in one line what a failed request means."""
    if isinstance(error, ApiError) and error.status:
        return str(error.status.message)
    return str(error) or type(error).__name__


def status_of(error: Exception) -> int | None:
    """The HTTP status behind an error: of a refused request, or told inside a watch."""
    if isinstance(error, ApiError) and error.status and error.status.code:
        return int(error.status.code)
    if isinstance(error, httpx2.HTTPStatusError) and error.response is not None:
        return int(error.response.status_code)
    return None


def find(client: Client, kind: Any, name: str, namespace: str | None = None) -> Any | None:
    """The object of a kind and name, or None."""
    try:
        return client.get(kind, name, namespace=namespace)
    except ApiError as error:
        if status_of(error) == HTTPStatus.NOT_FOUND:
            return None
        raise


def _info(group: str, version: str, kind: str, plural: str) -> ApiInfo:
    return ApiInfo(resource=ResourceDef(group, version, kind), plural=plural, verbs=_VERBS)


class Pod(GenericNamespacedResource):
    """A pod, as a mapping."""

    _api_info = _info("", "v1", "Pod", "pods")


class Event(GenericNamespacedResource):
    """An event, as a mapping."""

    _api_info = _info("", "v1", "Event", "events")


class Node(GenericGlobalResource):
    """A node, as a mapping."""

    _api_info = _info("", "v1", "Node", "nodes")


class Deployment(GenericNamespacedResource):
    """A Deployment, as a mapping."""

    _api_info = _info("apps", "v1", "Deployment", "deployments")


class ControllerRevision(GenericNamespacedResource):
    """A template as its controller keeps it, as a mapping."""

    _api_info = _info("apps", "v1", "ControllerRevision", "controllerrevisions")


class LeaderWorkerSet(GenericNamespacedResource):
    """A LeaderWorkerSet, as a mapping."""

    _api_info = _info("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")


class PodGroup(GenericNamespacedResource):
    """Volcano's PodGroup, as a mapping."""

    _api_info = _info("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")
