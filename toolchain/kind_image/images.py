"""The container images inside the node image, under the names that kubeadm and charts ask for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain.kind_image.archive import Entry, Image
from toolchain.kind_image.libraries import with_libraries
from toolchain.kind_image.programs import node_file, program

KUBERNETES_REGISTRY = "registry.k8s.io"
VOLCANO_REGISTRY = "docker.io/volcanosh"
NETWORK_IMAGE = "lockstep.dev/kind-network:1"

# Upstream's images run as these users; `runAsNonRoot` needs to see a number in the image.
LWS_USER = "65532:65532"
PAUSE_USER = "65535:65535"

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SCRATCH = (Entry("/tmp", mode=0o1777),)  # noqa: S108 - inside an image
IPTABLES = ("iptables", "iptables-save", "iptables-restore")
XTABLES = "/usr/sbin/xtables-nft-multi"
SHELL = ("/bin/bash", "/bin/cat", "/usr/bin/base64", "/usr/bin/tr", "/usr/bin/openssl")


def all_images(root: Path) -> list[Image]:
    """Every image, built from the toolchain's programs and the node's own Debian packages."""
    network_tools = _network_tools(root)
    return [
        *_control_plane(),
        _image(
            (f"{KUBERNETES_REGISTRY}/kube-proxy:v{versions.KUBERNETES}",),
            _binary("kube-proxy", "/usr/local/bin/kube-proxy"),
            network_tools,
        ),
        _image(
            (NETWORK_IMAGE,),
            _binary("kind-network", "/usr/local/bin/kind-network"),
            network_tools,
            Entrypoint=["/usr/local/bin/kind-network"],
        ),
        _pause(),
        *_volcano(root),
        *(_lws(version) for version in versions.LWS_SUPPORTED),
    ]


def _control_plane() -> list[Image]:
    names = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    kubernetes = {name: f"{name}:v{versions.KUBERNETES}" for name in names}
    tagged = kubernetes | {"etcd": f"etcd:{versions.ETCD}-0"}
    return [
        *(
            _image((f"{KUBERNETES_REGISTRY}/{tag}",), _binary(name, f"/usr/local/bin/{name}"))
            for name, tag in tagged.items()
        ),
        _image(
            (f"{KUBERNETES_REGISTRY}/coredns/coredns:v{versions.COREDNS}",),
            _binary("coredns", "/coredns"),
            Entrypoint=["/coredns"],
        ),
    ]


def _pause() -> Image:
    """Holds the namespaces of every pod, and is the whole of a scenario's workload."""
    tagged, _, _ = versions.WORKLOAD_IMAGE.partition("@")
    sandbox = sandbox_image(node_file("etc/containerd/config.toml").read_text())
    return _image(
        tuple(dict.fromkeys((tagged, sandbox))),
        _binary("kind-pause", "/pause"),
        Entrypoint=["/pause"],
        User=PAUSE_USER,
    )


def _volcano(root: Path) -> list[Image]:
    """Volcano's three; the webhook's image is also the job that makes its certificate."""
    certificate_job = (
        *with_libraries(root, SHELL),
        Entry("/bin/sh", link="bash"),
        Entry("/etc/ssl/openssl.cnf", root / "etc/ssl/openssl.cnf", mode=0o644),
        Entry("/usr/lib/ssl/openssl.cnf", link="/etc/ssl/openssl.cnf"),
        Entry("/gen-admission-secret.sh", node_file("volcano/gen-admission-secret.sh")),
        *_binary("kubectl", "/usr/local/bin/kubectl"),
    )
    layers = {"controller-manager": (), "scheduler": (), "webhook-manager": certificate_job}
    return [
        _image(
            (f"{VOLCANO_REGISTRY}/vc-{name}:v{versions.VOLCANO}",),
            _binary(f"vc-{name}", f"/vc-{name}"),
            layer,
            Entrypoint=[f"/vc-{name}"],
        )
        for name, layer in layers.items()
    ]


def _lws(version: str) -> Image:
    return _image(
        (f"{KUBERNETES_REGISTRY}/lws/lws:v{version}",),
        _binary(f"lws-manager-{version}", "/manager"),
        Entrypoint=["/manager"],
        User=LWS_USER,
    )


def _image(
    names: tuple[str, ...],
    layer: tuple[Entry, ...],
    shared: tuple[Entry, ...] = (),
    **config: object,
) -> Image:
    layers = (SCRATCH, shared, layer) if shared else (SCRATCH, layer)
    return Image(names, layers, {"Env": [PATH], "WorkingDir": "/", **config})


def _binary(name: str, path: str) -> tuple[Entry, ...]:
    return (Entry(path, program(name)),)


def _network_tools(root: Path) -> tuple[Entry, ...]:
    """`ip` and iptables, of the kind that speaks nftables, with the extensions that they load."""
    extensions = [f"/{file.relative_to(root)}" for file in root.glob("usr/lib/*/xtables/*.so")]
    families = (name.replace("ip", family, 1) for family in ("ip", "ip6") for name in IPTABLES)
    return (
        *with_libraries(root, ("/usr/sbin/ip", XTABLES, *sorted(extensions))),
        *(Entry(f"/usr/sbin/{name}", link=Path(XTABLES).name) for name in families),
    )


def missing(required: Iterable[str], images: Iterable[Image]) -> list[str]:
    """What kubeadm will ask for and the node image would not have."""
    have = {name for image in images for name in image.names}
    return [name for name in required if name not in have]


def sandbox_image(containerd_config: str) -> str:
    """The image that kind's containerd configuration holds pods with."""
    for line in containerd_config.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "sandbox_image":
            return value.strip().strip('"')
    raise LockstepError("kind's containerd configuration names no sandbox_image; report this")
