"""Create, look at and remove an embedded cluster (kwokctl, binary runtime)."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import toolchain
from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig
from lockstep.local import health, ports, simulated_kubelet

CREATE_TIMEOUT = 120.0
LOOK = 0.5
PORT_TAKEN = "address already in use"
ATTEMPTS = 3
NEEDED_MIB = 512
PORTS = (
    "etcd",
    "etcdPeer",
    "apiserver",
    "controllerManager",
    "scheduler",
    "kwok",
    "lwsWebhook",
    "lwsHealth",
    "volcanoSchedulerHealth",
    "volcanoSchedulerMetrics",
    "volcanoControllerHealth",
    "volcanoControllerMetrics",
)


@dataclass(frozen=True)
class EmbeddedCluster:
    """What others need to know of a running cluster."""

    name: str
    folder: Path
    ports: dict[str, int]

    @property
    def kwok_folder(self) -> Path:
        """Where kwokctl keeps the cluster: certificates, data, logs."""
        return _kwok_folder(self.name)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """The cluster's certificates and keys."""
        return self.kwok_folder / "pki"

    def describe(self) -> dict[str, Any]:
        """Everything that the Pulumi program takes from the cluster."""
        ca = (self.pki / "ca.crt").read_bytes()
        return {
            "name": self.name,
            "kubeconfig": self.kubeconfig.read_text(),
            "kubeconfigPath": str(self.kubeconfig),
            "webhookUrl": f"https://127.0.0.1:{self.ports['lwsWebhook']}",
            "webhookCa": base64.b64encode(ca).decode(),
        }


def _kwok_folder(name: str) -> Path:
    return paths.cluster_dir(name) / "kwok" / "clusters" / name


def _marker(name: str) -> Path:
    """Beside the cluster's folder, so that it tells of a cluster whose folder was removed."""
    return paths.cluster_dir(name).with_suffix(".id")


def incarnation(name: str) -> tuple[str, bool]:
    """The id of the living cluster of this name, or a new id; and whether one was lost.

    The id is what the Pulumi resources hang on: it changes exactly when the cluster must be made
    anew, because none is there or the one that was is gone (a reboot, a removed folder).
    """
    marker = _marker(name)
    known = marker.read_text().strip() if marker.exists() else ""
    if known and is_alive(name):
        return known, False
    return uuid.uuid4().hex[:12], bool(known)


def is_alive(name: str) -> bool:
    """Whether the API server of this cluster runs and its files are there."""
    folder = paths.cluster_dir(name)
    if not (folder / "ports.json").exists() or not (_kwok_folder(name) / "pki").exists():
        return False
    return bool(processes.named(folder, "kube-apiserver"))


def load(name: str) -> EmbeddedCluster:
    """The cluster of this name."""
    folder = paths.cluster_dir(name)
    try:
        numbers = json.loads((folder / "ports.json").read_text())
    except (OSError, ValueError):
        raise LockstepError(
            f"the embedded cluster {name} is not there; `pulumi up` makes it anew"
        ) from None
    return EmbeddedCluster(name, folder, numbers)


def create(name: str, incarnation_id: str) -> EmbeddedCluster:
    """Make the cluster from nothing: remains of an earlier one are cleared first."""
    delete(name)
    try:
        cluster = _start(name)
        _marker(name).write_text(incarnation_id + "\n")
    except BaseException:
        delete(name)  # no half-made cluster, whatever happened
        raise
    return cluster


def delete(name: str) -> None:
    """End the cluster's processes and remove its files; nothing to do is fine."""
    folder = paths.cluster_dir(name)
    processes.end_all(folder)
    kubeconfig.remove_copies(folder / "kubeconfig")
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise LockstepError(f"cannot remove {folder}; remove it by hand")
    _marker(name).unlink(missing_ok=True)


def _start(name: str) -> EmbeddedCluster:
    """Start the control plane; drawn ports that somebody took meanwhile are drawn again."""
    for attempt in range(1, ATTEMPTS + 1):
        folder = _make_folder(name)
        cluster = EmbeddedCluster(name, folder, ports.free_ports(PORTS))
        try:
            start_control_plane(cluster)
        except LockstepError:
            processes.end_all(folder)
            # Ours are gone: a port that is not free now is somebody else's.
            taken = [port for port in cluster.ports.values() if not ports.is_free(port)]
            if attempt == ATTEMPTS or not taken:
                raise
            shutil.rmtree(folder, ignore_errors=True)
            continue
        (folder / "ports.json").write_text(json.dumps(cluster.ports))
        return cluster
    raise AssertionError("unreachable")


def _make_folder(name: str) -> Path:
    folder = paths.cluster_dir(name)
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        free = shutil.disk_usage(folder).free // 2**20
    except OSError as error:
        raise LockstepError(f"cannot make {folder}: {error.strerror}") from None
    if free < NEEDED_MIB:
        raise LockstepError(
            f"{free} MiB are free for {folder}, but a cluster needs {NEEDED_MIB} MiB; "
            "make room, or set LOCKSTEP_STATE to a folder on a larger disk"
        )
    return folder


def start_control_plane(cluster: EmbeddedCluster) -> None:
    """`kwokctl create cluster`, with everything said in a configuration file."""
    config = cluster.folder / "kwokctl.yaml"
    log = cluster.folder / "kwokctl.log"
    kwokctl = toolchain.tool("kwokctl")
    environment = processes.marked_environment(cluster.folder)
    environment["KWOK_WORKDIR"] = str(cluster.folder / "kwok")
    # Without --wait: the API server is what the next steps need; the rest comes up meanwhile.
    arguments = ["--name", cluster.name, "--config", str(config), "--kubeconfig", ""]
    try:
        documents = [kwokctl_config(cluster.ports), *simulated_kubelet.stages()]
        config.write_text(yaml.safe_dump_all(documents))
        with log.open("w") as output:
            process = subprocess.Popen(
                [str(kwokctl), "create", "cluster", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if _await_end(process, cluster) == 0:
            _write_kubeconfig(cluster)
            return _await_ready(cluster)
    except OSError as error:
        raise LockstepError(f"cannot start the control plane: {error}") from None
    raise LockstepError(f"kwokctl could not make {cluster.name}: {_last_words(cluster)}")


def _await_end(process: subprocess.Popen[bytes], cluster: EmbeddedCluster) -> int:
    """Wait for kwokctl, but not in vain: it would go on for minutes when a port is taken."""
    deadline = time.monotonic() + CREATE_TIMEOUT
    try:
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(LOOK)
            if words := _last_line(cluster, PORT_TAKEN):
                raise LockstepError(f"a port of the control plane is taken: {words}")
    finally:
        process.kill()
        process.wait()
    raise LockstepError(
        f"the control plane is not up after {CREATE_TIMEOUT:.0f} s: {_last_words(cluster)}"
    )


def _write_kubeconfig(cluster: EmbeddedCluster) -> None:
    """The administrator's kubeconfig in one piece: certificates inside, not as paths."""
    config = yaml.safe_load((cluster.kwok_folder / "kubeconfig.yaml").read_text())
    for entry in (config["clusters"][0]["cluster"], config["users"][0]["user"]):
        for key in ("certificate-authority", "client-certificate", "client-key"):
            if key in entry:
                content = Path(entry.pop(key)).read_bytes()
                entry[f"{key}-data"] = base64.b64encode(content).decode()
    with open(os.open(cluster.kubeconfig, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        yaml.safe_dump(config, file)


def _await_ready(cluster: EmbeddedCluster) -> None:
    """Wait until the API server has its built-in roles, namespaces and priority classes."""
    tls = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    tls.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
    port = cluster.ports["apiserver"]

    def ask() -> http.client.HTTPConnection:
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=tls)

    if not health.await_ok(ask, "/readyz", CREATE_TIMEOUT):
        raise LockstepError(f"the API server does not get ready: {_last_words(cluster)}")


def _last_words(cluster: EmbeddedCluster) -> str:
    """The most telling line of the logs: errors of a component first, then of kwokctl."""
    found = (_last_line(cluster, needle) for needle in ("no space left", PORT_TAKEN, "error", ""))
    return next(filter(None, found), "no log was written")


def _last_line(cluster: EmbeddedCluster, needle: str) -> str:
    """The last line of the first log that has the needle; empty when none has."""
    logs = [*sorted((cluster.kwok_folder / "logs").glob("*.log")), cluster.folder / "kwokctl.log"]
    for log in logs:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        for line in reversed(lines):
            if line.strip() and needle in line.lower():
                return line.strip()[:300]
    return ""


def kwokctl_config(numbers: dict[str, int]) -> dict[str, Any]:
    """The kwokctl configuration: local binaries, our ports, loopback only, no client throttling."""
    options = {
        "runtime": "binary",
        "bindAddress": "127.0.0.1",
        "disableQPSLimits": True,
        "etcdPort": numbers["etcd"],
        "etcdPeerPort": numbers["etcdPeer"],
        "kubeApiserverPort": numbers["apiserver"],
        "kubeControllerManagerPort": numbers["controllerManager"],
        "kubeSchedulerPort": numbers["scheduler"],
        "kwokControllerPort": numbers["kwok"],
        "etcdBinary": str(toolchain.tool("etcd")),
        "kubeApiserverBinary": str(toolchain.tool("kube-apiserver")),
        "kubeControllerManagerBinary": str(toolchain.tool("kube-controller-manager")),
        "kubeSchedulerBinary": str(toolchain.tool("kube-scheduler")),
        "kwokControllerBinary": str(toolchain.tool("kwok")),
        "kubectlBinary": str(toolchain.tool("kubectl")),
    }
    return {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": options,
        "componentsPatches": [
            # The data lives as long as the cluster: nothing is gained by waiting for the disk.
            {"name": "etcd", "extraArgs": [{"key": "unsafe-no-fsync", "value": "true"}]},
            {
                "name": "kube-controller-manager",
                "extraArgs": [{"key": "concurrent-statefulset-syncs", "value": "20"}],
            },
        ],
    }
