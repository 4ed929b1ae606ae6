"""Create and delete the control plane of an embedded cluster, by kwokctl's binary runtime."""

import base64
import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import yaml

import toolchain
from lockstep import paths, processes, versions
from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig
from lockstep.local import embedded_cluster, ports, simulated_kubelet
from lockstep.local.embedded_cluster import EmbeddedCluster

CREATE_TIMEOUT = 120.0
ADOPT_TIMEOUT = 30.0
LOG_CHECK_SECONDS = 0.5
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


def create(name: str, incarnation: str) -> EmbeddedCluster:
    """Create the cluster, or return the running cluster that has this id.

    Pulumi runs the command again when only its environment has changed; the objects in the cluster
    must survive that. An incomplete cluster is replaced, and a failed attempt leaves nothing.
    """
    identity = f"{incarnation} {versions.KUBERNETES}\n"
    if running := _running(name, identity):
        return running
    delete(name)
    try:
        cluster = _start(name)
        embedded_cluster.marker(name).write_text(identity)
    except BaseException:
        delete(name)
        raise
    return cluster


def delete(name: str) -> None:
    """End the cluster's processes and remove its files; a missing cluster is no error."""
    folder = paths.cluster_dir(name)
    processes.end_all(folder)
    kubeconfig.remove_copies(folder / "kubeconfig")
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise LockstepError(f"cannot remove {folder}; remove it by hand")
    embedded_cluster.marker(name).unlink(missing_ok=True)


def _running(name: str, identity: str) -> EmbeddedCluster | None:
    """Return the cluster of this name if it has the same identity, is complete and answers."""
    marker = embedded_cluster.marker(name)
    if not marker.exists() or marker.read_text() != identity or embedded_cluster.missing(name):
        return None
    cluster = embedded_cluster.load(name)
    return cluster if _is_ready(cluster, ADOPT_TIMEOUT) else None


def _start(name: str) -> EmbeddedCluster:
    """Start the control plane; choose other ports if another program has taken one meanwhile."""
    for attempt in range(1, ATTEMPTS + 1):
        folder = _make_folder(name)
        cluster = EmbeddedCluster(name, folder, ports.free_ports(PORTS))
        try:
            start_control_plane(cluster)
        except LockstepError:
            processes.end_all(folder)
            # The cluster's own processes have ended: another program holds a port that is taken.
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
        raise LockstepError(f"cannot create {folder}: {error.strerror}") from None
    if free < NEEDED_MIB:
        raise LockstepError(
            f"{free} MiB are free for {folder}, but a cluster needs {NEEDED_MIB} MiB; "
            "free some space, or set LOCKSTEP_STATE to a folder on a larger disk"
        )
    return folder


def start_control_plane(cluster: EmbeddedCluster) -> None:
    """Run `kwokctl create cluster` with a configuration file, and wait for the API server."""
    config = cluster.folder / "kwokctl.yaml"
    environment = processes.marked_environment(cluster.folder)
    environment["KWOK_WORKDIR"] = str(cluster.folder / "kwok")
    # Without --wait: the next steps need the API server only; the rest starts meanwhile.
    arguments = ["--name", cluster.name, "--config", str(config), "--kubeconfig", ""]
    try:
        documents = [kwokctl_config(cluster.ports), *simulated_kubelet.stages()]
        config.write_text(yaml.safe_dump_all(documents))
        with (cluster.folder / "kwokctl.log").open("w") as log:
            process = subprocess.Popen(
                [str(toolchain.tool("kwokctl")), "create", "cluster", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        if _exit_code(process, cluster) != 0:
            raise LockstepError(f"kwokctl could not create {cluster.name}: {_cause(cluster)}")
        _write_kubeconfig(cluster)
    except OSError as error:
        raise LockstepError(f"cannot start the control plane: {error}") from None
    if not _is_ready(cluster, CREATE_TIMEOUT):
        raise LockstepError(
            f"timed out after {CREATE_TIMEOUT:.0f} s waiting for the API server: {_cause(cluster)}"
        )


def _exit_code(process: subprocess.Popen[bytes], cluster: EmbeddedCluster) -> int:
    """Wait for kwokctl; end it at once when a port is taken, as it would retry for minutes."""
    deadline = time.monotonic() + CREATE_TIMEOUT
    try:
        while time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(LOG_CHECK_SECONDS)
            if line := _last_line(cluster, PORT_TAKEN):
                raise LockstepError(f"a port of the control plane is taken: {line}")
    finally:
        process.kill()
        process.wait()
    raise LockstepError(
        f"timed out after {CREATE_TIMEOUT:.0f} s waiting for kwokctl: {_cause(cluster)}"
    )


def _write_kubeconfig(cluster: EmbeddedCluster) -> None:
    """Write the administrator's kubeconfig with the certificates inside, not as paths."""
    config = yaml.safe_load((cluster.kwok_folder / "kubeconfig.yaml").read_text())
    for entry in (config["clusters"][0]["cluster"], config["users"][0]["user"]):
        for key in ("certificate-authority", "client-certificate", "client-key"):
            if key in entry:
                content = Path(entry.pop(key)).read_bytes()
                entry[f"{key}-data"] = base64.b64encode(content).decode()
    with open(os.open(cluster.kubeconfig, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        yaml.safe_dump(config, file)


def _is_ready(cluster: EmbeddedCluster, seconds: float) -> bool:
    """Wait until the API server has its built-in roles, namespaces and priority classes."""
    tls = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    tls.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
    port = cluster.ports["apiserver"]
    connect = partial(http.client.HTTPSConnection, "127.0.0.1", port, timeout=5, context=tls)
    return ports.await_ok(connect, "/readyz", seconds)


def _cause(cluster: EmbeddedCluster) -> str:
    """Return the log line that explains a failure best: a component's error, else kwokctl's."""
    lines = (_last_line(cluster, text) for text in ("no space left", PORT_TAKEN, "error", ""))
    return next(filter(None, lines), "no log was written")


def _last_line(cluster: EmbeddedCluster, text: str) -> str:
    """Return the last line with a text, of the first log that has one; empty if none has."""
    logs = [*sorted((cluster.kwok_folder / "logs").glob("*.log")), cluster.folder / "kwokctl.log"]
    for log in logs:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        for line in reversed(lines):
            if line.strip() and text in line.lower():
                return line.strip()[:300]
    return ""


def kwokctl_config(numbers: dict[str, int]) -> dict[str, Any]:
    """Return kwokctl's configuration: local binaries, given ports, loopback, no throttling."""
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
            # The data lives only as long as the processes: waiting for the disk gains nothing.
            {"name": "etcd", "extraArgs": [{"key": "unsafe-no-fsync", "value": "true"}]},
            {
                "name": "kube-controller-manager",
                "extraArgs": [{"key": "concurrent-statefulset-syncs", "value": "20"}],
            },
        ],
    }
