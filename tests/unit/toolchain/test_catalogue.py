"""The pins in versions.py and in tools/ are the same ones."""

from __future__ import annotations

import platform
import re

import pytest

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue
from toolchain.group import Group

PINS = {
    "etcd": [("go.etcd.io/etcd/server/v3", versions.ETCD)],
    "kwok": [("sigs.k8s.io/kwok", versions.KWOK)],
    "kubernetes": [
        ("k8s.io/kubernetes", versions.KUBERNETES),
        ("volcano.sh/volcano", versions.VOLCANO),
    ],
    "pulumi": [
        ("github.com/pulumi/pulumi/pkg/v3", versions.PULUMI),
        ("github.com/pulumi/pulumi/sdk/v3", versions.PULUMI),
    ],
    "kind": [("sigs.k8s.io/kind", versions.KIND)],
    **{f"lws-{version}": [("sigs.k8s.io/lws", version)] for version in versions.LWS_SUPPORTED},
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


def test_kubernetes_provider_is_built_with_the_sdk_of_its_version() -> None:
    pin = f"github.com/pulumi/pulumi-kubernetes/sdk/v4 v{versions.PULUMI_KUBERNETES}"
    assert pin in go_mod("pulumi-kubernetes")


def test_kubernetes_libraries_are_of_the_same_release() -> None:
    replaced = re.findall(r"^\tk8s\.io/\S+ => k8s\.io/\S+ (v\S+)$", go_mod("kubernetes"), re.M)
    assert len(replaced) > 25
    assert set(replaced) == {f"v0.{versions.KUBERNETES.split('.', 1)[1]}"}


@pytest.mark.parametrize("group", catalogue.groups().values(), ids=lambda group: group.name)
def test_every_module_pins_checksums(group: Group) -> None:
    for module in [module for module in group.modules if "require" in go_mod(module)]:
        assert " h1:" in (cache.sources() / module / "go.sum").read_text()


def test_tool_names_are_the_ones_others_ask_for() -> None:
    names = [p.name for group in catalogue.groups().values() for p in group.programs]
    assert len(names) == len(set(names))
    assert set(names) >= {
        *("pulumi", "kubectl", "kind", "etcd", "kwok", "kwokctl"),
        *("kube-apiserver", "kube-controller-manager", "kube-scheduler"),
        *("vc-scheduler", "vc-controller-manager"),
        *(f"lws-manager-{version}" for version in versions.LWS_SUPPORTED),
    }


def test_only_what_the_default_stack_needs_is_made_unasked() -> None:
    asked_for = {group.name for group in catalogue.groups().values() if not group.is_default}
    assert asked_for >= {"lws-0.7.0", "lws-0.9.0", "kind"}
    assert asked_for.isdisjoint({"kubernetes", "volcano", "lws-0.8.0", "pulumi"})


def test_releases_follow_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    groups = catalogue.groups()
    assert groups["pulumi"].assets[0].url.endswith("-darwin-arm64.tar.gz")
    assert not groups["kubernetes"].assets  # its servers are published for Linux only


def test_unknown_processor_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(LockstepError, match=r"riscv64.*amd64 or arm64"):
        catalogue.groups()
