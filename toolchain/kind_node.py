"""The programs that only kind's node image needs. Data only."""

from __future__ import annotations

from lockstep import versions
from toolchain.cluster_groups import kubernetes_variables
from toolchain.group import Copy, Group, Program

# A module of its own, so that a change of it does not rebuild the embedded cluster's programs. The
# versions are the same, so that shared packages are compiled once.
KUBERNETES = "kubernetes-node"


def kind_node() -> Group:
    """Kubernetes' node programs, and the programs of images that cannot be pulled."""
    volcano = (f"volcano.sh/volcano/pkg/version.Version=v{versions.VOLCANO}",)
    crictl = (f"sigs.k8s.io/cri-tools/pkg/version.Version={versions.CRICTL}",)
    return Group(
        name="kind-node",
        version=versions.KUBERNETES,
        programs=(
            *(
                Program(name, KUBERNETES, f"k8s.io/kubernetes/cmd/{name}", kubernetes_variables())
                for name in ("kubelet", "kubeadm", "kube-proxy")
            ),
            Program(
                "vc-webhook-manager", KUBERNETES, "volcano.sh/volcano/cmd/webhook-manager", volcano
            ),
            Program("coredns", "coredns", "."),
            Program("crictl", "crictl", "sigs.k8s.io/cri-tools/cmd/crictl", crictl),
            Program("kind-pause", "kind-pause", "."),
        ),
        gigabytes=5,
        minutes=6.5,
        copies=(
            Copy("kind", "sigs.k8s.io/kind", "images/base/files", "files"),
            Copy(
                KUBERNETES,
                "volcano.sh/volcano",
                "installer/dockerfile/webhook-manager/gen-admission-secret.sh",
                "files/volcano/gen-admission-secret.sh",
            ),
        ),
        command="make kind-image",
    )
