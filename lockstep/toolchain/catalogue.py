"""What the toolchain consists of, and where each piece comes from. Data only."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from lockstep import versions
from lockstep.errors import LockstepError

ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}

MAKE_TOOLS = "make tools"
TOOLS = "python -m lockstep tools"

COMPONENT_BASE = "k8s.io/component-base/version"
PULUMI_MODULE = "github.com/pulumi"


@dataclass(frozen=True)
class Program:
    """An executable, and the Go package that it is built from."""

    name: str
    module: str
    """The folder of tools/ whose go.mod pins the package."""
    package: str
    variables: tuple[str, ...] = ()
    """`path=value` pairs for the linker, so that the program knows its version."""


@dataclass(frozen=True)
class Copy:
    """A file or folder taken from a downloaded Go module."""

    module: str
    """The folder of tools/ whose go.mod pins the Go module."""
    go_module: str
    source: str
    target: str


@dataclass(frozen=True)
class Asset:
    """One file of an official release."""

    url: str
    checksums: str
    """Where the release publishes the file's SHA-256: the bare sum, or lines of sum and name."""
    program: str = ""
    """The program that the file is; empty when it is an archive."""
    members: tuple[str, ...] = ()
    """What to take from the archive."""


@dataclass(frozen=True)
class Group:
    """What is made, kept and replaced together."""

    name: str
    version: str
    programs: tuple[Program, ...]
    gigabytes: float
    """Disk that a build needs while it runs, measured."""
    embeds: tuple[Copy, ...] = ()
    """Files that must be beside the program's source before it is built."""
    copies: tuple[Copy, ...] = ()
    """Files that belong to the group besides its programs."""
    assets: tuple[Asset, ...] = ()
    """The official release, where there is one with checksums."""
    command: str = MAKE_TOOLS
    """What makes it."""

    @property
    def is_default(self) -> bool:
        """Whether the default stack needs it."""
        return self.command == MAKE_TOOLS

    @property
    def modules(self) -> tuple[str, ...]:
        """The folders of tools/ that the group is built from."""
        built = (program.module for program in self.programs)
        copied = (copy.module for copy in (*self.embeds, *self.copies))
        return tuple(dict.fromkeys((*built, *copied)))


def system() -> str:
    """The operating system, in Go's words."""
    return platform.system().lower()


def architecture() -> str:
    """The processor, in Go's words."""
    machine = platform.machine().lower()
    if machine not in ARCHITECTURES:
        raise LockstepError(f"the processor {machine} is not supported; use amd64 or arm64")
    return ARCHITECTURES[machine]


def groups() -> dict[str, Group]:
    """Every group by its name, in the order in which they are made."""
    made = (
        _etcd(),
        _kwok(),
        _kubernetes(),
        _volcano(),
        _lws(versions.LWS_DEFAULT),
        _pulumi(),
        _pulumi_command(),
        _pulumi_kubernetes(),
        *(_lws(version) for version in versions.LWS_SUPPORTED if version != versions.LWS_DEFAULT),
        _kind(),
    )
    return {group.name: group for group in made}


def _github(repository: str, version: str) -> str:
    return f"https://github.com/{repository}/releases/download/v{version}"


def _etcd() -> Group:
    version = versions.ETCD
    name = f"etcd-v{version}-linux-{architecture()}"
    release = _github("etcd-io/etcd", version)
    asset = Asset(f"{release}/{name}.tar.gz", f"{release}/SHA256SUMS", members=(f"{name}/etcd",))
    return Group(
        name="etcd",
        version=version,
        programs=(Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),),
        gigabytes=1,
        assets=(asset,) if system() == "linux" else (),
    )


def _kwok() -> Group:
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
        gigabytes=2,
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


def _kubernetes() -> Group:
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
        assets=assets if system() == "linux" else (),
    )


def _volcano() -> Group:
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
        gigabytes=1,
        copies=(
            Copy(
                "kubernetes",
                "volcano.sh/volcano",
                "installer/helm/chart/volcano",
                "charts/volcano",
            ),
        ),
    )


def _lws(version: str) -> Group:
    module = f"lws-{version}"
    variables = (f"sigs.k8s.io/lws/pkg/version.GitVersion=v{version}",)
    return Group(
        name=module,
        version=version,
        programs=(Program(f"lws-manager-{version}", module, "sigs.k8s.io/lws/cmd", variables),),
        gigabytes=2,
        copies=(Copy(module, "sigs.k8s.io/lws", "charts/lws", "charts/lws"),),
        command=MAKE_TOOLS if version == versions.LWS_DEFAULT else f"{TOOLS} --lws {version}",
    )


def _pulumi() -> Group:
    version = versions.PULUMI
    variables = (f"{PULUMI_MODULE}/pulumi/sdk/v3/go/common/version.Version=v{version}",)
    host = "pulumi-language-python"
    scripts = {
        f"{host}-exec": f"python/cmd/{host}-exec",
        "pulumi-resource-pulumi-python": "python/dist/pulumi-resource-pulumi-python",
    }
    programs = (
        Program("pulumi", "pulumi", f"{PULUMI_MODULE}/pulumi/pkg/v3/cmd/pulumi", variables),
        Program(host, host, f"{PULUMI_MODULE}/pulumi/sdk/python/cmd/{host}/v3", variables),
    )
    release = _github("pulumi/pulumi", version)
    processor = {"amd64": "x64", "arm64": "arm64"}[architecture()]
    return Group(
        name="pulumi",
        version=version,
        programs=programs,
        gigabytes=4,
        copies=tuple(
            Copy("pulumi", f"{PULUMI_MODULE}/pulumi/sdk/v3", source, f"bin/{name}")
            for name, source in scripts.items()
        ),
        assets=(
            Asset(
                f"{release}/pulumi-v{version}-{system()}-{processor}.tar.gz",
                f"{release}/pulumi-{version}-checksums.txt",
                members=tuple(f"pulumi/{name}" for name in (*(p.name for p in programs), *scripts)),
            ),
        ),
    )


def _plugin_release(name: str, version: str) -> tuple[Asset, ...]:
    release = _github(f"pulumi/pulumi-{name}", version)
    program = f"pulumi-resource-{name}"
    return (
        Asset(
            f"{release}/{program}-v{version}-{system()}-{architecture()}.tar.gz",
            f"{release}/pulumi-{name}_{version}_checksums.txt",
            members=(program,),
        ),
    )


def _pulumi_command() -> Group:
    version = versions.PULUMI_COMMAND
    source = f"{PULUMI_MODULE}/pulumi-command/provider"
    program = "pulumi-resource-command"
    variables = (f"{source}/pkg/version.Version=v{version}",)
    return Group(
        name="pulumi-command",
        version=version,
        programs=(Program(program, "pulumi-command", f"{source}/cmd/{program}", variables),),
        gigabytes=1,
        assets=_plugin_release("command", version),
    )


def _pulumi_kubernetes() -> Group:
    version = versions.PULUMI_KUBERNETES
    module = "pulumi-kubernetes"
    source = f"{PULUMI_MODULE}/pulumi-kubernetes/provider/v4"
    program = "pulumi-resource-kubernetes"
    variables = (f"{source}/pkg/version.Version=v{version}",)
    return Group(
        name=module,
        version=version,
        programs=(Program(program, module, ".", variables),),
        gigabytes=4,
        embeds=tuple(
            Copy(module, source, f"cmd/{program}/{name}", name)
            for name in ("schema.json", "terraform-mapping.json")
        ),
        assets=_plugin_release("kubernetes", version),
    )


def _kind() -> Group:
    version = versions.KIND
    url = f"{_github('kubernetes-sigs/kind', version)}/kind-{system()}-{architecture()}"
    return Group(
        name="kind",
        version=version,
        programs=(Program("kind", "kind", "sigs.k8s.io/kind"),),
        gigabytes=0.5,
        assets=(Asset(url, f"{url}.sha256sum", program="kind"),),
        command=f"{TOOLS} --kind",
    )
