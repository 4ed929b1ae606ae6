"""The container images inside the node image, under the names that kubeadm and the charts use."""

from collections.abc import Iterable
from dataclasses import dataclass

from lockstep import versions

NETWORK_IMAGE = "lockstep.dev/kind-network:1"
WORKLOAD, _, WORKLOAD_DIGEST = versions.WORKLOAD_IMAGE.partition("@")


@dataclass(frozen=True)
class Image:
    """A container image of the node."""

    program: str
    """The toolchain's program that the image runs."""
    names: tuple[str, ...]
    """The names under which pods ask for the image."""
    path: str = ""
    """The path of the program, if the program is all of the image; else the Dockerfile has a target
    with the program's name."""
    user: str = "0:0"
    """The user that upstream's image has; `runAsNonRoot` needs a number."""


def all_images(sandbox: str) -> list[Image]:
    """Every image; `sandbox` is the name under which containerd asks for pause."""
    kubernetes = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    etcd = f"registry.k8s.io/etcd:{versions.ETCD}-0"
    coredns = f"registry.k8s.io/coredns/coredns:v{versions.COREDNS}"
    # The stand-in for the workload's image has another digest; containerd looks for the name.
    by_digest = f"{WORKLOAD.rpartition(':')[0]}@{WORKLOAD_DIGEST}"
    return [
        *(Image(name, (_kubernetes(name),), f"/usr/local/bin/{name}") for name in kubernetes),
        Image("kube-proxy", (_kubernetes("kube-proxy"),)),
        Image("etcd", (etcd,), "/usr/local/bin/etcd"),
        Image("coredns", (coredns,), "/coredns"),
        Image("kind-pause", (WORKLOAD, sandbox, by_digest), "/pause", "65535:65535"),
        Image("kind-network", (NETWORK_IMAGE,)),
        *(
            Image(f"{name}-{versions.VOLCANO_DEFAULT}", (_volcano(name),), f"/{name}")
            for name in ("vc-scheduler", "vc-controller-manager")
        ),
        Image("vc-webhook-manager", (_volcano("vc-webhook-manager"),)),
        *(_lws(version) for version in versions.LWS_SUPPORTED),
    ]


def missing(required: Iterable[str], images: Iterable[Image]) -> list[str]:
    """The required image names that no image has."""
    present = {name for image in images for name in image.names}
    return [name for name in required if name not in present]


def _kubernetes(name: str) -> str:
    return f"registry.k8s.io/{name}:v{versions.KUBERNETES}"


def _volcano(name: str) -> str:
    return f"docker.io/volcanosh/{name}:v{versions.VOLCANO_DEFAULT}"


def _lws(version: str) -> Image:
    name = f"registry.k8s.io/lws/lws:v{version}"
    return Image(f"lws-manager-{version}", (name,), "/manager", "65532:65532")
