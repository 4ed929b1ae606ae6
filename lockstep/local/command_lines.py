"""The programs of an embedded cluster's control plane, with their options.

etcd and the API server talk over a unix-domain socket in the cluster's folder, which only its owner
may enter. The other programs of the control plane serve nothing.
"""

from pathlib import Path
from typing import Any

import yaml

import toolchain
from lockstep.local import simulated_kubelet
from lockstep.local.embedded_cluster import EmbeddedCluster
from lockstep.local.supervisor import Program

# Relative to the cluster's folder, in which the programs run: the absolute path of a socket may be
# too long. etcd takes no URL without a port, which is a part of the socket's name here.
_ETCD, _ETCD_PEER = "unix://etcd:1", "unix://etcd:2"
_SERVICES = "10.96.0.0/16"
_UNLIMITED = ["--kube-api-qps=5000", "--kube-api-burst=10000"]
# KWOK with leases would leave the nodes alone after a restart, until the leases of the process
# before have expired. So it renews none, and the controller manager does not expect any.
_NO_LEASES = "--node-lease-duration-seconds=0"
_NO_HEARTBEATS = "--node-monitor-grace-period=87600h"
_ALONE = ["--leader-elect=false", "--secure-port=0"]

# Health without credentials; everything else needs a certificate or a token.
_AUTHENTICATION = {
    "apiVersion": "apiserver.config.k8s.io/v1",
    "kind": "AuthenticationConfiguration",
    "anonymous": {
        "enabled": True,
        "conditions": [{"path": path} for path in ("/livez", "/readyz", "/healthz")],
    },
}


def control_plane(cluster: EmbeddedCluster) -> dict[str, Program]:
    """Return what to run, and write the configuration files that the programs read."""
    folder = cluster.folder
    kubeconfig = f"--kubeconfig={cluster.kubeconfig}"
    accounts = cluster.pki / "accounts.key"
    authentication = _write(folder / "authentication.yaml", _AUTHENTICATION)
    stages = _write(folder / "kwok.yaml", *simulated_kubelet.stages())
    return {
        "etcd": _program(
            "etcd",
            "--name=etcd",
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={_ETCD}",
            f"--advertise-client-urls={_ETCD}",
            f"--listen-peer-urls={_ETCD_PEER}",
            f"--initial-advertise-peer-urls={_ETCD_PEER}",
            f"--initial-cluster=etcd={_ETCD_PEER}",
            "--auto-compaction-retention=1",
            f"--quota-backend-bytes={8 * 2**30}",
            "--log-level=warn",
            # The data survives the end of every process. Only a machine that loses power may lose
            # it, and waiting for the disk would make every write several times as slow.
            "--unsafe-no-fsync",
        ),
        "kube-apiserver": _program(
            "kube-apiserver",
            f"--etcd-servers={_ETCD}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--endpoint-reconciler-type=none",  # no pod can reach an address of this machine
            f"--secure-port={cluster.ports['apiserver']}",
            f"--tls-cert-file={cluster.pki / 'server.crt'}",
            f"--tls-private-key-file={cluster.pki / 'server.key'}",
            f"--client-ca-file={cluster.pki / 'ca.crt'}",
            f"--authentication-config={authentication}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={accounts}",
            f"--service-account-signing-key-file={accounts}",
            f"--service-cluster-ip-range={_SERVICES}",
            "--allow-privileged=true",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=0",
            "--max-mutating-requests-inflight=0",
            "--profiling=false",
        ),
        "kube-controller-manager": _program(
            "kube-controller-manager",
            kubeconfig,
            *_ALONE,
            *_UNLIMITED,
            f"--root-ca-file={cluster.pki / 'ca.crt'}",
            f"--service-account-private-key-file={accounts}",
            "--concurrent-statefulset-syncs=20",
            _NO_HEARTBEATS,
            "--profiling=false",
        ),
        "kube-scheduler": _program(
            "kube-scheduler", kubeconfig, *_ALONE, *_UNLIMITED, "--profiling=false"
        ),
        "kwok": _program(
            "kwok",
            kubeconfig,
            f"--config={stages}",
            "--manage-all-nodes=true",
            _NO_LEASES,
        ),
    }


def _program(name: str, *options: str) -> Program:
    return Program([str(toolchain.tool(name)), *options])


def _write(path: Path, *documents: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump_all(documents))
    return path
