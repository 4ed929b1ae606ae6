"""What the node image is made from, and the name that follows from it."""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

from lockstep import versions
from toolchain import cache, catalogue
from toolchain.kind_image import capabilities

REPOSITORY = "lockstep/kind-node"

# The last Debian whose systemd still starts on control groups of version 1.
DEBIAN_SUITE = "bookworm"
DEBIAN_PACKAGES = (
    # the system
    *("systemd", "systemd-sysv", "dbus", "util-linux", "mount", "kmod", "procps", "hostname"),
    # what kubelet, kube-proxy and kubeadm call
    *("conntrack", "iptables", "nftables", "ebtables", "iproute2", "ethtool", "socat", "e2fsprogs"),
    # the container runtime
    *("containerd", "runc", "containernetworking-plugins", "libseccomp2", "pigz"),
    # what kind's node files call, and what Volcano makes its certificate with
    *("ca-certificates", "curl", "jq", "openssl"),
)

NODE_GROUP = "kind-node"
"""The toolchain's group of programs that only this image needs."""


def groups() -> tuple[str, ...]:
    """The toolchain's groups whose programs and files go into the image."""
    operators = (f"lws-{version}" for version in versions.LWS_SUPPORTED)
    return ("etcd", "kubernetes", "volcano", *operators, NODE_GROUP)


def mirror() -> tuple[str, ...]:
    """Where Debian's packages come from, as debootstrap takes it; without it, its own default."""
    chosen = os.environ.get("LOCKSTEP_DEBIAN_MIRROR")
    return (chosen,) if chosen else ()


def root_name() -> str:
    """Names the Debian root, so that one of other packages is not taken for it."""
    packages = hashlib.sha256(repr(DEBIAN_PACKAGES).encode())
    return f"root-{DEBIAN_SUITE}-{packages.hexdigest()[:10]}"


@functools.cache
def image_name() -> str:
    """The image's name: its tag changes with anything that the image is made from."""
    digest = hashlib.sha256()
    digest.update(repr((root_name(), capabilities.withheld())).encode())
    digest.update(repr((versions.COREDNS, versions.WORKLOAD_IMAGE)).encode())
    known = catalogue.groups()
    for name in groups():
        digest.update(cache.key(known[name]).encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return f"{REPOSITORY}:v{versions.KUBERNETES}-{digest.hexdigest()[:10]}"
