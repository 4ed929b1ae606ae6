"""The yardstick: the same cluster, charts and workload by kwokctl, `kubectl apply` and watches.

Written as somebody in a hurry would write it: no state, no checks, nothing to repeat. What Pulumi
and the verdict cost is the difference to this.
"""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from lightkube import Client, KubeConfig
from lightkube.core.resource import NamespacedResource
from lightkube.resources.core_v1 import ConfigMap, Namespace, Node, Secret
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from lockstep import kube, toolchain
from lockstep.embedded import cluster as embedded
from lockstep.embedded import operators, ports, processes, supervisor

NAMESPACES = ("volcano-system", "lws-system", "lockstep-gang")


@dataclass(frozen=True)
class Manifests:
    """Everything that a finished stack has in its cluster, in the order in which it is needed."""

    charts: str
    config_map: str
    rest: str
    workload: str


def copy_of(kubeconfig: Path) -> Manifests:
    """Read a deployed `gang` stack, so that the same objects can be applied by hand."""
    client = Client(config=KubeConfig.from_file(str(kubeconfig)))
    wanted = [client.get(Namespace, name) for name in NAMESPACES]
    nodes = list(client.list(Node, labels={"lockstep.dev/pool": "gang"}))
    rights: list[Any] = [
        thing
        for kind in (ClusterRole, ClusterRoleBinding)
        for thing in client.list(kind)
        if thing.metadata and str(thing.metadata.name).endswith("-lws-podgroups")
    ]
    config = client.get(ConfigMap, operators.LWS_CONFIG, namespace=operators.LWS_NAMESPACE)
    sets = list(client.list(kube.LeaderWorkerSet, namespace="lockstep-gang"))
    releases = client.list(Secret, namespace="*", labels={"owner": "helm"})
    namespaces = _documents(wanted)
    return Manifests(
        charts=namespaces + "\n---\n".join(["", *(_manifest(secret) for secret in releases)]),
        config_map=_documents([config]),
        rest=_documents([*nodes, *rights]),
        workload=_documents(sets),
    )


def _manifest(secret: Secret) -> str:
    """The manifests inside Helm's own record of a release."""
    packed = base64.b64decode(base64.b64decode((secret.data or {})["release"]))
    release = json.loads(gzip.decompress(packed))
    crds = [
        base64.b64decode(file["data"]).decode()
        for file in release["chart"].get("files") or []
        if file["name"].startswith("crds/")
    ]
    return "\n---\n".join([*crds, str(release["manifest"])])


def _documents(things: list[Any]) -> str:
    plain = []
    for thing in things:
        document = thing if isinstance(thing, dict) else thing.to_dict()
        metadata = document["metadata"]
        for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"):
            metadata.pop(key, None)
        kind = getattr(thing, "_api_info", None)
        if kind is not None:
            document.setdefault("kind", kind.resource.kind)
            group = kind.resource.group
            version = kind.resource.version
            document.setdefault("apiVersion", f"{group}/{version}" if group else version)
        if document["kind"] != "Node":
            document.pop("status", None)
        plain.append(yaml.safe_dump(document))
    return "---\n" + "---\n".join(plain)


class ByHand:
    """One run of the hand-written way."""

    def __init__(self, name: str, webhook_ports: dict[str, int], folder: Path) -> None:
        self.folder = folder
        self.name = name
        numbers = ports.free_ports([p for p in embedded.PORTS if p not in webhook_ports])
        self.cluster = embedded.EmbeddedCluster(name, folder, {**numbers, **webhook_ports})

    def up(self, manifests: Manifests) -> float:
        """Create, apply, wait; returns the seconds it took."""
        started = time.monotonic()
        self.folder.mkdir(parents=True)
        embedded._run_kwokctl(self.cluster)
        self._apply(manifests.charts)
        self._apply(manifests.config_map + manifests.rest)
        client = Client(config=KubeConfig.from_file(str(self.cluster.kubeconfig)))
        for operator in ("volcano", "lws"):
            self._start(client, operator)
        self._apply(manifests.workload)
        self._kubectl(
            *("wait", "pods", "--all", "-n", "lockstep-gang", "--timeout=60s"),
            *("--for=jsonpath={.status.phase}=Running",),
        )
        return time.monotonic() - started

    def down(self) -> float:
        """Kill and remove; returns the seconds it took."""
        started = time.monotonic()
        processes.end_all(self.folder)
        shutil.rmtree(self.folder)
        return time.monotonic() - started

    def _start(self, client: Client, operator: str) -> None:
        operators.start(self.cluster, operator, "0.8.0")

    def _apply(self, text: str) -> None:
        self._kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=text)

    def _kubectl(self, *words: str, text: str | None = None) -> None:
        subprocess.run(
            [str(toolchain.tool("kubectl")), f"--kubeconfig={self.cluster.kubeconfig}", *words],
            input=text,
            text=True,
            check=True,
            stdout=subprocess.DEVNULL,
        )
