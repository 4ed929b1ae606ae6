"""An embedded cluster as its files show it: addresses, identity, and whether its processes run.

Light on purpose, as the Pulumi program imports it: no client and no psutil.
"""

import base64
import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import paths
from lockstep.errors import LockstepError

# The names of kwokctl's pid files.
CONTROL_PLANE = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok-controller",
)
PROCESSES = Path("/proc")


@dataclass(frozen=True)
class EmbeddedCluster:
    """The name, folder and ports of an embedded cluster."""

    name: str
    folder: Path
    ports: dict[str, int]

    @property
    def kwok_folder(self) -> Path:
        """The folder in which kwokctl keeps certificates, data, pid files and logs."""
        return _kwok_folder(self.folder)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """The folder of the cluster's certificates and keys."""
        return self.kwok_folder / "pki"

    def describe(self) -> dict[str, Any]:
        """The values that the Pulumi program reads from the output of `cluster create`."""
        ca = (self.pki / "ca.crt").read_bytes()
        return {
            "name": self.name,
            "kubeconfig": self.kubeconfig.read_text(),
            "kubeconfigPath": str(self.kubeconfig),
            "webhookUrl": f"https://127.0.0.1:{self.ports['lwsWebhook']}",
            "webhookCa": base64.b64encode(ca).decode(),
        }


def load(name: str) -> EmbeddedCluster:
    """Read the cluster of this name."""
    folder = paths.cluster_dir(name)
    try:
        ports = json.loads((folder / "ports.json").read_text())
    except (OSError, ValueError):
        raise LockstepError(
            f"the embedded cluster {name} does not exist; `pulumi up` recreates it"
        ) from None
    return EmbeddedCluster(name, folder, ports)


def scheduler(name: str) -> tuple[str, Path] | None:
    """The address of the metrics of a cluster's Volcano, and its configuration file.

    None for a cluster that is not embedded.
    """
    folder = paths.cluster_dir(name)
    if not (folder / "ports.json").exists():
        return None
    port = load(name).ports["volcanoSchedulerMetrics"]
    return f"http://127.0.0.1:{port}/metrics", volcano_conf(folder)


def volcano_conf(folder: Path) -> Path:
    """The configuration file of Volcano's scheduler; its folder has no other file.

    The scheduler reloads on any change in that folder.
    """
    return folder / "operators" / "volcano" / "conf" / "volcano-scheduler.conf"


def marker(name: str) -> Path:
    """The file that holds the id and the Kubernetes version of a complete cluster.

    It is beside the cluster's folder, so that the loss of the folder is noticed.
    """
    return paths.cluster_dir(name).with_suffix(".id")


def incarnation(name: str) -> tuple[str, str]:
    """Return the id of the cluster of this name, and what it has lost.

    The id changes exactly when the cluster must be created or recreated. What it has lost is
    empty for a complete cluster and for one that was never created; otherwise it names the missing
    processes or files, such as "etcd has ended".
    """
    file = marker(name)
    known = file.read_text().split()[:1] if file.exists() else []
    lost = missing(name) if known else ""
    if known and not lost:
        return known[0], ""
    return uuid.uuid4().hex[:12], lost


def missing(name: str) -> str:
    """Name the processes and files that the cluster should have and has not; empty when complete.

    Programs that restart the operators count, too; the operators themselves do not.
    """
    folder = paths.cluster_dir(name)
    kwok_folder = _kwok_folder(folder)
    if not (folder / "ports.json").exists() or not (kwok_folder / "pki").exists():
        return "its files are missing"
    pid_files = [kwok_folder / "pids" / f"{component}.pid" for component in CONTROL_PLANE]
    pid_files += sorted((folder / "operators").glob("*/*.pid"))
    ended = [file.stem for file in pid_files if not _runs(file, folder)]
    if not ended:
        return ""
    return f"{', '.join(ended)} {'has' if len(ended) == 1 else 'have'} ended"


def end_remains(name: str) -> None:
    """End the processes of an incomplete cluster, so that clients find it unreachable at once."""
    from lockstep import processes  # only here: psutil takes time to load

    processes.end_all(paths.cluster_dir(name))


def _runs(pid_file: Path, folder: Path) -> bool:
    """Tell whether a pid file's process runs for the cluster in `folder`.

    The command line decides where it can be read: after a reboot the pid may be another program's,
    and a zombie has none.
    """
    try:
        pid = int(pid_file.read_text())
        if PROCESSES.is_dir():
            return os.fsencode(f"{folder}/") in (PROCESSES / str(pid) / "cmdline").read_bytes()
        os.kill(pid, 0)
    except (OSError, ValueError):
        return False
    return True


def _kwok_folder(folder: Path) -> Path:
    return folder / "kwok" / "clusters" / folder.name
