"""An embedded cluster as its files show it: addresses, identity, and whether it runs.

Light on purpose, as the Pulumi program imports it: no client and no psutil.
"""

import base64
import json
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.local import supervisor

METRICS_SOCKET = "volcano-metrics"
"""The socket of the metrics of Volcano's scheduler, in the cluster's folder."""


@dataclass(frozen=True)
class EmbeddedCluster:
    """The name, folder and ports of an embedded cluster."""

    name: str
    folder: Path
    ports: dict[str, int]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def pki(self) -> Path:
        """The folder of the cluster's certificates and keys."""
        return self.folder / "pki"

    @property
    def server(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.ports['apiserver']}"

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


@dataclass(frozen=True)
class Plan:
    """What the Pulumi program plans for the cluster of a name."""

    incarnation: str
    """Identifies the cluster's data: another id recreates the cluster."""
    run: str
    """Identifies the run of the cluster's processes: another id starts them again."""
    warning: str = ""
    """What will happen to an existing cluster and why; empty when nothing will."""


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
    return f"unix:{folder / METRICS_SOCKET}", volcano_conf(folder)


def volcano_conf(folder: Path) -> Path:
    """The configuration file of Volcano's scheduler; its folder has no other file.

    The scheduler reloads on any change in that folder.
    """
    return folder / "operators" / "volcano" / "conf" / "volcano-scheduler.conf"


def marker(name: str) -> Path:
    """The file that names the incarnation, the Kubernetes version and the run of a cluster.

    It is beside the cluster's folder, so that the loss of the folder is noticed.
    """
    return paths.cluster_dir(name).with_suffix(".id")


def marked(name: str) -> list[str]:
    """The words of a cluster's marker; empty for a cluster that was never complete."""
    file = marker(name)
    words = file.read_text().split() if file.exists() else []
    return words if len(words) == len(("incarnation", "version", "run")) else []


def plan(name: str) -> Plan:
    """Return the ids of the cluster that is there, and new ids where something must be done."""
    new = Plan(uuid.uuid4().hex[:12], uuid.uuid4().hex[:12])
    known = marked(name)
    if not known:
        return new
    if lost := missing(name):
        return replace(new, warning=f"the embedded cluster {name} will be recreated: {lost}")
    incarnation, _, run = known
    if is_supervised(name):
        return Plan(incarnation, run)
    warning = f"the embedded cluster {name} does not run; it will be started with its data"
    if runs(name):
        warning = f"the supervisor of the embedded cluster {name} has ended; it will be restarted"
    return Plan(incarnation, new.run, warning)


def missing(name: str) -> str:
    """Name the files that the cluster should have and has not; empty when its data is complete."""
    folder = paths.cluster_dir(name)
    needed = ("ports.json", "kubeconfig", "pki/ca.crt", "etcd/member")
    gone = [path for path in needed if not (folder / path).exists()]
    return f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} missing" if gone else ""


def is_supervised(name: str) -> bool:
    """Tell whether the cluster's processes are running, or are started again when they end."""
    return supervisor.holder(paths.cluster_dir(name)) is not None


def runs(name: str) -> bool:
    """Tell whether the cluster's API server is running, with a supervisor or without."""
    return supervisor.is_alive(paths.cluster_dir(name), "kube-apiserver")
