"""The yardstick: the same cluster, charts and workload by `kubectl apply` and watches.

As somebody in a hurry would write it: no state, no checks, nothing that could be repeated. What
Pulumi and the verdict cost is the difference to this.
"""

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
from lightkube.resources.core_v1 import Secret

import toolchain
from lockstep import processes, versions
from lockstep.local import (
    certificates,
    control_plane,
    credentials,
    embedded_cluster,
    operators,
    supervisor,
)

PRIVATE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")


@dataclass(frozen=True)
class Manifests:
    """What a deployed `gang` stack has in its cluster, in the order in which it is needed."""

    platform: str
    """Namespaces, CRDs and charts."""
    rest: str
    """Nodes, rights and the patched ConfigMap."""
    workload: str
    authority: str
    """By which the webhooks in the charts are trusted: another cluster has another."""


def copy_of(cluster: embedded_cluster.EmbeddedCluster) -> Manifests:
    """Read a deployed `gang` stack, so that the same objects can be applied by hand."""
    kubeconfig = cluster.kubeconfig
    client = Client(config=KubeConfig.from_file(str(kubeconfig)))
    releases = client.list(Secret, namespace="*", labels={"owner": "helm"})
    crds = _get(kubeconfig, "crd")
    namespaces = _get(kubeconfig, "namespace", "volcano-system", "lws-system", "lockstep-gang")
    rights = [
        thing
        for thing in _get(kubeconfig, "clusterrole,clusterrolebinding")
        if thing["metadata"]["name"].endswith("-lws-podgroups")
    ]
    config = _get(kubeconfig, "configmap", "lws-manager-config", "-n", "lws-system")
    nodes = _get(kubeconfig, "node", "-l", "lockstep.dev/pool=gang")
    platform = [*namespaces, *crds, *(one for r in releases for one in _charted(r))]
    return Manifests(
        platform=yaml.safe_dump_all(platform),
        rest=yaml.safe_dump_all([*nodes, *rights, *config]),
        workload=yaml.safe_dump_all(_get(kubeconfig, "leaderworkerset", "-n", "lockstep-gang")),
        authority=cluster.describe()["webhookCa"],
    )


def _charted(secret: Secret) -> list[dict[str, Any]]:
    """The manifests inside Helm's own record of a release; CRDs come from the cluster."""
    packed = base64.b64decode(base64.b64decode((secret.data or {})["release"]))
    manifest = json.loads(gzip.decompress(packed))["manifest"]
    things = [thing for thing in yaml.safe_load_all(manifest) if thing]
    return [thing for thing in things if thing["kind"] != "CustomResourceDefinition"]


def _get(kubeconfig: Path, *words: str) -> list[dict[str, Any]]:
    answer = kubectl(kubeconfig, "get", *words, "-o", "json")
    found = json.loads(answer)
    items: list[dict[str, Any]] = found.get("items", [found])
    for item in items:
        for key in PRIVATE:
            item["metadata"].pop(key, None)
        if item["kind"] != "Node":
            item.pop("status", None)
    return items


def kubectl_program() -> str:
    """The kubectl on PATH, of whichever version, or that of the toolchain."""
    return shutil.which("kubectl") or str(toolchain.tool("kubectl"))


def kubectl(kubeconfig: Path, *words: str, text: str | None = None) -> str:
    """Run kubectl; a failure ends the benchmark."""
    done = subprocess.run(
        [kubectl_program(), f"--kubeconfig={kubeconfig}", *words],
        input=text,
        text=True,
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout


class ByHand:
    """One run of the hand-written way."""

    def __init__(self, name: str, ports: dict[str, int], folder: Path) -> None:
        # The webhooks in the copied manifests name a port: the same ports are used again.
        self.cluster = embedded_cluster.EmbeddedCluster(name, folder, ports)

    def up(self, manifests: Manifests, lws_version: str) -> float:
        """Create, apply, wait; the seconds it took."""
        started = time.monotonic()
        self.cluster.folder.mkdir(parents=True)
        certificates.create(self.cluster.pki)
        credentials.write_administrator(self.cluster)
        control_plane.start(self.cluster, 60)
        own = self.cluster.describe()["webhookCa"]
        self._apply(manifests.platform.replace(manifests.authority, own))
        self._apply(manifests.rest)
        operators.start(self.cluster, "volcano", versions.VOLCANO_DEFAULT)
        operators.start(self.cluster, "lws", lws_version)
        self._apply(manifests.workload)
        ready = "--for=jsonpath={.status.readyReplicas}=1"
        workload = ("leaderworkerset/gang-lws", "-n", "lockstep-gang")
        self._kubectl("wait", *workload, ready, "--timeout=60s")
        return time.monotonic() - started

    def down(self) -> float:
        """Kill and remove; the seconds it took."""
        started = time.monotonic()
        supervisor.release(self.cluster.folder)
        processes.end_all(self.cluster.folder)
        shutil.rmtree(self.cluster.folder)
        return time.monotonic() - started

    def _apply(self, text: str) -> None:
        self._kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=text)

    def _kubectl(self, *words: str, text: str | None = None) -> None:
        kubectl(self.cluster.kubeconfig, *words, text=text)
