"""The pins in versions.py, programs.toml and the Go modules agree."""

import platform
import re
from importlib import metadata

import pytest

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, golang
from toolchain.catalogue import Group
from toolchain.making import default_groups

PINS = {
    "default": [
        ("go.etcd.io/etcd/server/v3", versions.ETCD),
        ("sigs.k8s.io/kwok", versions.KWOK),
        ("k8s.io/kubernetes", versions.KUBERNETES),
        ("volcano.sh/volcano", versions.VOLCANO_DEFAULT),
        ("sigs.k8s.io/lws", versions.LWS_DEFAULT),
        ("github.com/pulumi/pulumi/pkg/v3", versions.PULUMI),
        ("github.com/pulumi/pulumi/sdk/v3", versions.PULUMI),
    ],
    "pulumi-language-python": [
        (
            "github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3",
            versions.PULUMI_PYTHON_CODE,
        )
    ],
    "pulumi-kubernetes": [
        ("github.com/pulumi/pulumi-kubernetes/provider/v4", versions.PULUMI_KUBERNETES_CODE),
        ("github.com/pulumi/pulumi-kubernetes/sdk/v4", versions.PULUMI_KUBERNETES),
    ],
    "pulumi-command": [("github.com/pulumi/pulumi-command/provider", versions.PULUMI_COMMAND_CODE)],
    "kubernetes-node": [
        ("k8s.io/kubernetes", versions.KUBERNETES),
        ("volcano.sh/volcano", versions.VOLCANO_DEFAULT),
    ],
    "kind": [("sigs.k8s.io/kind", versions.KIND)],
    "crictl": [("sigs.k8s.io/cri-tools", versions.CRICTL)],
    "coredns": [("github.com/coredns/coredns", versions.COREDNS)],
    **{
        f"volcano-{version}": [
            ("volcano.sh/volcano", version),
            ("k8s.io/kubernetes", versions.KUBERNETES),
        ]
        for version in versions.VOLCANO_SUPPORTED
        if version != versions.VOLCANO_DEFAULT
    },
    **{
        f"lws-{version}": [("sigs.k8s.io/lws", version)]
        for version in versions.LWS_SUPPORTED
        if version != versions.LWS_DEFAULT
    },
}


def go_mod(module: str) -> str:
    return (cache.sources() / module / "go.mod").read_text()


@pytest.mark.parametrize(
    ("module", "path", "version"),
    [(module, path, version) for module, pins in PINS.items() for path, version in pins],
)
def test_go_mod_requires_the_pinned_version(module: str, path: str, version: str) -> None:
    assert re.search(
        rf"^\t?(require )?{re.escape(path)} v{version}\b", go_mod(module), re.MULTILINE
    )


def test_plugins_are_those_that_the_python_packages_ask_for() -> None:
    assert metadata.version("pulumi-kubernetes") == versions.PULUMI_KUBERNETES
    assert metadata.version("pulumi-command") == versions.PULUMI_COMMAND


@pytest.mark.parametrize("group", catalogue.groups().values(), ids=lambda group: group.name)
def test_go_that_is_asked_for_builds_every_module(group: Group) -> None:
    for module in group.modules:
        directive = re.search(r"^go (\d+)\.(\d+)", go_mod(module), re.MULTILINE)
        assert directive
        assert [int(part) for part in directive.groups()] <= golang.NEEDED


@pytest.mark.parametrize("module", ["default", "kubernetes-node", "volcano-1.14.1"])
def test_kubernetes_libraries_are_of_the_same_release(module: str) -> None:
    library = r"^\tk8s\.io/(?!cri-|kube-openapi)\S+ => k8s\.io/\S+ (v\S+)$"
    replaced = re.findall(library, go_mod(module), re.M)
    assert len(replaced) > 25
    assert set(replaced) == {f"v0.{versions.KUBERNETES.split('.', 1)[1]}"}


def test_modules_of_the_default_groups_share_their_libraries() -> None:
    """A library whose version differs is compiled twice. Only those of Pulumi have to differ."""
    pinned = {
        module: dict(re.findall(r"^\t(\S+) (v\S+)", go_mod(module), re.M))
        for module in ("default", "pulumi-language-python", "pulumi-command", "pulumi-kubernetes")
    }
    default = pinned.pop("default")
    for libraries in pinned.values():
        shared = {path for path in libraries if path in default and "/pulumi/" not in path}
        same = {path for path in shared if libraries[path] == default[path]}
        assert len(same) > 0.9 * len(shared)
        assert {"google.golang.org/grpc", "golang.org/x/net"} <= same


@pytest.mark.parametrize(
    ("option", "supported", "default"),
    [
        ("volcano", versions.VOLCANO_SUPPORTED, versions.VOLCANO_DEFAULT),
        ("lws", versions.LWS_SUPPORTED, versions.LWS_DEFAULT),
    ],
)
def test_versions_have_a_group_and_only_the_default_one_is_made_unasked(
    option: str, supported: tuple[str, ...], default: str
) -> None:
    made_unasked = {name for name in default_groups() if name.startswith(f"{option}-")}
    assert made_unasked == {f"{option}-{default}"}
    for version in supported:
        group = catalogue.groups()[f"{option}-{version}"]
        assert group.version == version
        assert all(program.name.endswith(f"-{version}") for program in group.programs)
        if version != default:
            assert group.command == f"lockstep tools --{option} {version}"


def test_patched_module_is_part_of_the_groups_that_are_built_with_it() -> None:
    group = catalogue.groups()[f"volcano-{versions.VOLCANO_DEFAULT}"]
    assert "volcano-apis" in group.modules
    assert group.built_modules == ("default",)
    (patch,) = group.embeds
    source = cache.sources() / patch.target
    assert [file.name for file in source.rglob("*.go")] == ["queue_allocation_gate.go"]


@pytest.mark.parametrize(
    ("package", "executable"),
    [
        ("k8s.io/kubernetes/cmd/kubelet", "kubelet"),
        ("go.etcd.io/etcd/server/v3", "server"),
        (".", "bell"),
    ],
)
def test_executable_is_named_as_go_does(package: str, executable: str) -> None:
    assert catalogue.Program("any", "bell", package).executable == executable


@pytest.mark.parametrize("group", catalogue.groups().values(), ids=lambda group: group.name)
def test_programs_of_a_module_have_names_of_their_own(group: Group) -> None:
    """One command writes them to one folder."""
    programs = {
        (program.module, program.executable, program.package)
        for each in (group, *catalogue.groups().values())
        for program in each.programs
    }
    assert len({program[:2] for program in programs}) == len(programs)


def test_main_package_in_a_modules_folder_is_called_like_it() -> None:
    for group in catalogue.groups().values():
        for program in group.programs:
            if program.package == ".":
                assert go_mod(program.module).startswith(
                    f"module lockstep/tools/{program.module}\n"
                )


def test_releases_are_used_only_where_their_checksum_is_pinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    groups = catalogue.groups()
    kind = groups["kind"].release
    assert kind is not None
    assert kind.url.endswith(f"/v{versions.KIND}/kind-darwin-arm64")
    assert groups["etcd"].release is None  # only the checksum for Linux on amd64 is pinned
    assert groups["pulumi"].release is None


@pytest.mark.parametrize("group", catalogue.groups().values(), ids=lambda group: group.name)
def test_release_has_every_program_and_a_checksum(group: Group) -> None:
    if group.release:
        assert re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{128}", group.release.checksum)
        names = [member.rpartition("/")[2] for member in group.release.members]
        assert names in ([], [program.name for program in group.programs])
        assert not group.copies, "a release has no files of the Go module"


def test_unknown_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(LockstepError, match=r"riscv64.*amd64 or arm64"):
        catalogue.groups()
