"""Start Volcano and LWS as processes of this machine, beside an embedded cluster.

Each process takes its configuration from its chart's ConfigMap in the cluster and acts as its
chart's ServiceAccount, so the ConfigMap patch and the RBAC rules have the effect that they have on
a pod.
"""

import http.client
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import ConfigMap

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.local import credentials, ports, supervisor
from lockstep.local.embedded_cluster import METRICS_SOCKET, EmbeddedCluster, volcano_conf
from lockstep.local.supervisor import Program
from lockstep.lws import names

HEALTH_TIMEOUT = 60.0
VOLCANO_NAMESPACE = "volcano-system"


@dataclass(frozen=True)
class Operator:
    """How an operator's processes are prepared, and where they answer once they work."""

    prepare: Callable[[EmbeddedCluster, Client, Path, str], dict[str, Program]]
    health: Sequence[tuple[str, str]]
    """Health endpoints: the name of the port and the path."""
    listens: Sequence[str] = ()
    """Names of other ports that the operator must serve."""


def start(cluster: EmbeddedCluster, name: str, version: str) -> None:
    """Start an operator, or restart it with its current configuration, and wait for its health."""
    operator = OPERATORS[name]
    folder = cluster.folder / "operators" / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with kube.client(str(cluster.kubeconfig)) as client:
        programs = operator.prepare(cluster, client, folder, version)
    is_first = all(supervisor.running(cluster.folder, program) is None for program in programs)
    supervisor.run(cluster.folder, programs)
    if is_first:
        # Its garbage collector looks for new kinds every 30 s and when it starts. Until it knows
        # LeaderWorkerSets and PodGroups, deleting them in the foreground has to wait.
        supervisor.restart(cluster.folder, "kube-controller-manager")
    logs = [paths.program_log(cluster.folder, program) for program in programs]
    for port, path in operator.health:
        connect = partial(http.client.HTTPConnection, "127.0.0.1", cluster.ports[port], timeout=2)
        if not ports.await_ok(connect, path, HEALTH_TIMEOUT):
            raise LockstepError(
                f"{name} is not healthy after {HEALTH_TIMEOUT:.0f} s; {_last_error(logs)}"
            )
    for port in operator.listens:
        # LWS reports that it is ready some time before its webhooks listen.
        if not ports.await_listening(cluster.ports[port], HEALTH_TIMEOUT):
            raise LockstepError(f"{name} does not serve its webhooks; {_last_error(logs)}")


def host_config(text: str, numbers: dict[str, int], certificates: Path) -> dict[str, Any]:
    """Adapt the LWS configuration of the cluster to a process of this machine.

    Only the addresses, the certificates and leader election change. Everything else, above all the
    scheduler provider, stays as it is in the cluster.
    """
    config: dict[str, Any] = yaml.safe_load(text) or {}
    changes: dict[str, dict[str, Any]] = {
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {
            "host": "127.0.0.1",
            "port": numbers["lwsWebhook"],
            "certDir": str(certificates),
        },
        "health": {"healthProbeBindAddress": f"127.0.0.1:{numbers['lwsHealth']}"},
        "metrics": {"bindAddress": "0"},
    }
    for section, values in changes.items():
        config[section] = {**config.get(section, {}), **values}
    # With the client's default rate limit, pod creation would be the bottleneck.
    config.setdefault("clientConnection", {"qps": 1000, "burst": 2000})
    return config


def _prepare_lws(
    cluster: EmbeddedCluster, client: Client, folder: Path, version: str
) -> dict[str, Program]:
    certificates = folder / "certificates"
    certificates.mkdir(mode=0o700, exist_ok=True)
    for source, target in (("server.crt", "tls.crt"), ("server.key", "tls.key")):
        shutil.copyfile(cluster.pki / source, certificates / target)
        (certificates / target).chmod(0o600)
    text = _config_map(client, names.CONFIG_MAP, names.NAMESPACE, names.CONFIG_KEY)
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(host_config(text, cluster.ports, certificates)))
    kubeconfig = folder / f"{names.MANAGER}.kubeconfig"
    credentials.write_service_account(cluster, kubeconfig, names.NAMESPACE, names.MANAGER)
    manager = str(toolchain.tool(f"lws-manager-{version}"))
    options = [f"--config={config}", f"--kubeconfig={kubeconfig}", "--zap-log-level=2"]
    return {"lws-manager": Program([manager, *options])}


def _prepare_volcano(
    cluster: EmbeddedCluster, client: Client, folder: Path, version: str
) -> dict[str, Program]:
    conf = volcano_conf(cluster.folder)
    conf.parent.mkdir(mode=0o700, exist_ok=True)
    conf.write_text(
        _config_map(client, "volcano-scheduler-configmap", VOLCANO_NAMESPACE, conf.name)
    )
    numbers = cluster.ports
    accounts = ("volcano-scheduler", "volcano-controllers")
    kubeconfigs = [folder / f"{account}.kubeconfig" for account in accounts]
    for path, account in zip(kubeconfigs, accounts, strict=True):
        credentials.write_service_account(cluster, path, VOLCANO_NAMESPACE, account)
    scheduler, controllers = kubeconfigs
    common = ["--logtostderr", "--leader-elect=false", "--enable-healthz=true", "-v=2"]
    commands = {
        "vc-scheduler": [
            str(toolchain.tool(f"vc-scheduler-{version}")),
            f"--kubeconfig={scheduler}",
            f"--scheduler-conf={conf}",
            f"--healthz-address=127.0.0.1:{numbers['volcanoSchedulerHealth']}",
            f"--cache-dump-dir={folder}",
            "--schedule-period=1s",
            "--enable-metrics=false",  # they would be on a port
            # From the metrics the recorder reads which actions and plugins each session ran.
            f"--metrics-socket={METRICS_SOCKET}",
            *common,
        ],
        "vc-controller-manager": [
            str(toolchain.tool(f"vc-controller-manager-{version}")),
            f"--kubeconfig={controllers}",
            f"--healthz-address=127.0.0.1:{numbers['volcanoControllerHealth']}",
            "--enable-metrics=false",
            *common,
        ],
    }
    return {name: Program(command) for name, command in commands.items()}


OPERATORS = {
    "volcano": Operator(
        _prepare_volcano,
        [("volcanoSchedulerHealth", "/healthz"), ("volcanoControllerHealth", "/healthz")],
    ),
    "lws": Operator(_prepare_lws, [("lwsHealth", "/readyz")], ["lwsWebhook"]),
}


def _config_map(client: Client, name: str, namespace: str, key: str) -> str:
    try:
        return str((client.get(ConfigMap, name, namespace=namespace).data or {})[key])
    except (ApiError, KeyError) as error:
        raise LockstepError(f"ConfigMap {namespace}/{name} has no {key}: {error}") from None


def _last_error(logs: Iterable[Path]) -> str:
    for log in logs:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        if lines:
            return f"last line of {log}: {lines[-1][:300]}"
    return "no log was written"
