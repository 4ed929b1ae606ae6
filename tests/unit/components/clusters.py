"""Clusters to deploy other components into: one that the stack owns, and one that it does not."""

from pathlib import Path

from components.cluster.existing import ExistingCluster, ExistingClusterArgs
from components.cluster.kind import KindCluster, KindClusterArgs
from components.cluster.kwok import KwokCluster, KwokClusterArgs

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: other
contexts:
- name: mine
  context: {cluster: c1, user: u1}
- name: other
  context: {cluster: c2, user: u2}
clusters:
- name: c1
  cluster: {server: "https://mine.example", certificate-authority: pki/ca.crt}
- name: c2
  cluster: {server: "https://other.example"}
users:
- name: u1
  user: {token: hunter2}
- name: u2
  user: {token: not-ours}
"""


def kwok(name: str = "lockstep-gang", cpu: str = "4", memory: str = "8Gi") -> KwokCluster:
    return KwokCluster("cluster", KwokClusterArgs(name, "1.35.8", cpu, memory))


def kind(workers: int = 3) -> KindCluster:
    return KindCluster("cluster", KindClusterArgs("lockstep-kind", workers))


def existing(folder: Path, *, export_kubeconfig: bool = False) -> ExistingCluster:
    path = folder / "kubeconfig"
    path.write_text(KUBECONFIG)
    args = ExistingClusterArgs("lockstep-mine", "mine", str(path), export_kubeconfig)
    return ExistingCluster("cluster", args)
