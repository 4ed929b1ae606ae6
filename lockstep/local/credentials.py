"""The kubeconfigs of an embedded cluster: the administrator's, and one for each operator."""

import base64
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from lockstep.local import service_account_token
from lockstep.local.embedded_cluster import EmbeddedCluster


def write_administrator(cluster: EmbeddedCluster) -> None:
    """Write the administrator's kubeconfig with the certificate and the key inside."""
    user = {"client-certificate-data": _text(cluster.pki / "admin.crt")}
    _write(
        cluster, cluster.kubeconfig, {**user, "client-key-data": _text(cluster.pki / "admin.key")}
    )


def write_service_account(
    cluster: EmbeddedCluster, path: Path, namespace: str, account: str
) -> None:
    """Write a kubeconfig that has only the rights of a ServiceAccount.

    It has no token but names the program that gets one for an hour, so no token has to live as
    long as the cluster.
    """
    program = [service_account_token.__file__, cluster.server, str(cluster.pki), namespace, account]
    plugin = {
        "apiVersion": service_account_token.API_VERSION,
        "command": sys.executable,
        "args": ["-I", "-S", *program],
        "interactiveMode": "Never",
    }
    _write(cluster, path, {"exec": plugin})


def _write(cluster: EmbeddedCluster, path: Path, user: dict[str, Any]) -> None:
    name = cluster.name
    server = {
        "server": cluster.server,
        "certificate-authority-data": _text(cluster.pki / "ca.crt"),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": name, "user": user}],
    }
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        yaml.safe_dump(config, file)


def _text(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
