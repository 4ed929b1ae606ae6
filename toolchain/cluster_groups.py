"""The groups that the clusters are run with. Data only."""

from __future__ import annotations

from lockstep import versions
from toolchain.group import (
    MAKE_TOOLS,
    TOOLS,
    Asset,
    Copy,
    Group,
    Program,
    architecture,
    github_release,
    system,
)

COMPONENT_BASE = "k8s.io/component-base/version"


def etcd() -> Group:
    """The store of the API server."""
    version = versions.ETCD
    name = f"etcd-v{version}-linux-{architecture()}"
    release = github_release("etcd-io/etcd", version)
    asset = Asset(f"{release}/{name}.tar.gz", f"{release}/SHA256SUMS", members=(f"{name}/etcd",))
    return Group(
        name="etcd",
        version=version,
        programs=(Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),),
        gigabytes=0.5,
        minutes=1,
        assets=(asset,) if system() == "linux" else (),
    )


def kwok() -> Group:
    """Simulated kubelets, and the command that starts clusters with them."""
    # Its releases publish no checksums, so it is always built.
    version = versions.KWOK
    variables = (f"sigs.k8s.io/kwok/pkg/consts.Version=v{version}",)
    return Group(
        name="kwok",
        version=version,
        programs=tuple(
            Program(name, "kwok", f"sigs.k8s.io/kwok/cmd/{name}", variables)
            for name in ("kwok", "kwokctl")
        ),
        gigabytes=1,
        minutes=2,
    )


def kubernetes_variables() -> tuple[str, ...]:
    """What tells a program of Kubernetes its version; without them it says v0.0.0."""
    major, minor, _ = versions.KUBERNETES.split(".")
    return (
        f"{COMPONENT_BASE}.gitVersion=v{versions.KUBERNETES}",
        f"{COMPONENT_BASE}.gitMajor={major}",
        f"{COMPONENT_BASE}.gitMinor={minor}",
        f"{COMPONENT_BASE}.gitTreeState=clean",
    )


def kubernetes() -> Group:
    """The control plane, and kubectl."""
    version = versions.KUBERNETES
    names = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    release = f"https://dl.k8s.io/v{version}/bin/linux/{architecture()}"
    assets = tuple(
        Asset(f"{release}/{name}", f"{release}/{name}.sha256", program=name) for name in names
    )
    return Group(
        name="kubernetes",
        version=version,
        programs=tuple(
            Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", kubernetes_variables())
            for name in names
        ),
        gigabytes=4,
        minutes=6,
        assets=assets if system() == "linux" else (),
    )


def volcano() -> Group:
    """The gang scheduler, its controllers and its chart."""
    # In the Go module of Kubernetes, whose libraries it uses: what they share is compiled once.
    version = versions.VOLCANO
    variables = (f"volcano.sh/volcano/pkg/version.Version=v{version}",)
    return Group(
        name="volcano",
        version=version,
        programs=tuple(
            Program(f"vc-{name}", "kubernetes", f"volcano.sh/volcano/cmd/{name}", variables)
            for name in ("scheduler", "controller-manager")
        ),
        gigabytes=0.5,
        minutes=1.5,
        copies=(
            Copy(
                "kubernetes",
                "volcano.sh/volcano",
                "installer/helm/chart/volcano",
                "charts/volcano",
            ),
        ),
    )


def lws(version: str) -> Group:
    """The manager of LeaderWorkerSets, and its chart."""
    module = f"lws-{version}"
    variables = (f"sigs.k8s.io/lws/pkg/version.GitVersion=v{version}",)
    return Group(
        name=module,
        version=version,
        programs=(Program(f"lws-manager-{version}", module, "sigs.k8s.io/lws/cmd", variables),),
        gigabytes=1.5,
        minutes=2,
        copies=(Copy(module, "sigs.k8s.io/lws", "charts/lws", "charts/lws"),),
        command=MAKE_TOOLS if version == versions.LWS_DEFAULT else f"{TOOLS} --lws {version}",
    )


def kind() -> Group:
    """Clusters in Docker."""
    version = versions.KIND
    url = f"{github_release('kubernetes-sigs/kind', version)}/kind-{system()}-{architecture()}"
    return Group(
        name="kind",
        version=version,
        programs=(Program("kind", "kind", "sigs.k8s.io/kind"),),
        gigabytes=0.5,
        minutes=1,
        assets=(Asset(url, f"{url}.sha256sum", program="kind"),),
        command=f"{TOOLS} --kind",
    )
