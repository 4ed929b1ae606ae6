"""Create, start and delete the control plane of an embedded cluster."""

import http.client
import json
import shutil
import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lockstep import paths, processes, versions
from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig
from lockstep.local import (
    certificates,
    command_lines,
    credentials,
    embedded_cluster,
    ports,
    supervisor,
)
from lockstep.local.embedded_cluster import EmbeddedCluster

CREATE_TIMEOUT = 120.0
RESTART_TIMEOUT = 60.0
PORT_TAKEN = "address already in use"
ATTEMPTS = 3
NEEDED_MIB = 512
PORTS = (
    "apiserver",
    "lwsWebhook",
    "lwsHealth",
    "volcanoSchedulerHealth",
    "volcanoControllerHealth",
)


def create(name: str, incarnation: str, run: str) -> EmbeddedCluster:
    """Create the cluster, or return the cluster that has this incarnation, started if it ended.

    Pulumi runs the command again when only its environment has changed; the objects in the cluster
    must survive that. An incomplete cluster is replaced, and a failed attempt leaves nothing.
    """
    identity = [incarnation, versions.KUBERNETES]
    known = embedded_cluster.marked(name)
    if known[:2] == identity and not embedded_cluster.missing(name):
        cluster = embedded_cluster.load(name)
        if known[2:] != [run] or not embedded_cluster.is_supervised(name):
            _resume(cluster)
        elif not _is_ready(cluster, RESTART_TIMEOUT):
            raise LockstepError(f"the cluster {name} does not answer: {_cause(cluster)}")
    else:
        delete(name)
        try:
            cluster = _create(name)
        except BaseException:
            delete(name)
            raise
    embedded_cluster.marker(name).write_text(" ".join([*identity, run]))
    return cluster


def delete(name: str) -> None:
    """End the cluster's processes and remove its files; a missing cluster is no error."""
    folder = paths.cluster_dir(name)
    supervisor.release(folder)
    processes.end_all(folder)
    kubeconfig.remove_copies(folder / "kubeconfig")
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise LockstepError(f"cannot remove {folder}; remove it by hand")
    embedded_cluster.marker(name).unlink(missing_ok=True)


def _create(name: str) -> EmbeddedCluster:
    """Start a new control plane; choose other ports if another program takes one meanwhile."""
    for attempt in range(1, ATTEMPTS + 1):
        folder = _make_folder(name)
        cluster = EmbeddedCluster(name, folder, ports.free_ports(PORTS))
        try:
            certificates.create(cluster.pki)
            credentials.write_administrator(cluster)
            (folder / "ports.json").write_text(json.dumps(cluster.ports))
            start(cluster, CREATE_TIMEOUT, partial(_give_up, cluster))
        except OSError as error:
            raise LockstepError(f"cannot create the cluster in {folder}: {error}") from None
        except LockstepError:
            supervisor.release(folder)
            processes.end_all(folder)
            # The cluster's own processes have ended: another program holds a port that is taken.
            if attempt == ATTEMPTS or not _taken(cluster):
                raise
            shutil.rmtree(folder, ignore_errors=True)
        else:
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


def _resume(cluster: EmbeddedCluster) -> None:
    """Supervise a cluster again whose data is there.

    Where only the supervisor has ended, the next one adopts the processes. After a reboot, for
    example, all of them are started.
    """
    if embedded_cluster.runs(cluster.name):
        supervisor.start(cluster.folder)
        if _is_ready(cluster, RESTART_TIMEOUT):
            return
    processes.end_all(cluster.folder)
    if taken := _taken(cluster):
        raise LockstepError(
            f"port {taken[0]} of the cluster {cluster.name} is used by another program; "
            "end that program, or delete the cluster with `make down`"
        )
    start(cluster, RESTART_TIMEOUT)


def start(
    cluster: EmbeddedCluster, seconds: float, give_up: Callable[[], None] | None = None
) -> None:
    """Start the control plane, and wait until the API server is ready.

    `give_up` may raise what makes waiting useless.
    """
    programs = command_lines.control_plane(cluster)
    first = {name: programs.pop(name) for name in ("etcd", "kube-apiserver")}
    supervisor.run(cluster.folder, first)
    # The others only need processor time before the API server answers, and it needs all there is.
    if ports.await_listening(cluster.ports["apiserver"], seconds, give_up):
        supervisor.run(cluster.folder, programs)
    if not _is_ready(cluster, seconds):
        raise LockstepError(
            f"timed out after {seconds:.0f} s waiting for the API server: {_cause(cluster)}"
        )


def _give_up(cluster: EmbeddedCluster) -> None:
    """Raise when a port is taken: the supervisor would try again until the timeout.

    Only for a new cluster: the log of an older one may have such a line from an earlier restart.
    """
    if line := _last_line(cluster, PORT_TAKEN):
        raise LockstepError(f"a port of the control plane is taken: {line}")


def _taken(cluster: EmbeddedCluster) -> list[int]:
    return [port for port in cluster.ports.values() if not ports.is_free(port)]


def _is_ready(cluster: EmbeddedCluster, seconds: float) -> bool:
    """Wait until the API server has its built-in roles, namespaces and priority classes."""
    tls = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
    tls.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
    port = cluster.ports["apiserver"]
    connect = partial(http.client.HTTPSConnection, "127.0.0.1", port, timeout=5, context=tls)
    return ports.await_ok(connect, "/readyz", seconds)


def _cause(cluster: EmbeddedCluster) -> str:
    """Return the log line that explains a failure best: a component's error, else any line."""
    lines = (_last_line(cluster, text) for text in ("no space left", PORT_TAKEN, "error", ""))
    return next(filter(None, lines), "no log was written")


def _last_line(cluster: EmbeddedCluster, text: str) -> str:
    """Return the last line with a text, of the first log that has one; empty if none has."""
    for log in sorted(paths.programs_dir(cluster.folder).glob("*.log")):
        lines = log.read_text(errors="replace").splitlines()
        for line in reversed(lines):
            if line.strip() and text in line.lower():
                return line.strip()[:300]
    return ""
