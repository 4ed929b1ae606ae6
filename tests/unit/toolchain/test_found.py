"""The user's own tools: used when their version is good, and never mistaken for ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import toolchain
from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, found, homes

MakeProgram = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("name", "says", "good"),
    [
        ("kubectl", f"Client Version: v{versions.KUBERNETES}\nKustomize Version: v5.7.1", True),
        ("kubectl", "Client Version: v1.33.0", True),
        ("kubectl", "Client Version: v1.30.0", False),
        ("kind", f"kind version {versions.KIND}", True),
        ("kind", "kind version 0.99.0", True),
        ("kind", "kind version 0.9.0", False),
        ("etcd", f"etcd Version: {versions.ETCD}", True),
        ("etcd", "etcd Version: 3.6.99", False),
        ("kube-apiserver", f"Kubernetes v{versions.KUBERNETES}", True),
        ("kube-apiserver", "Kubernetes v1.34.0", False),
        ("kwokctl", "no version here", False),
        ("vc-scheduler", f"Version: v{versions.VOLCANO}", False),
    ],
)
def test_version_decides(make_program: MakeProgram, name: str, says: str, good: bool) -> None:
    program = make_program(name, says)
    assert found.on_path(name) == (program if good else None)


@pytest.mark.parametrize(
    ("version", "good"),
    [(f"v{versions.PULUMI}", True), ("v3.999.0", True), ("v3.1.0", False), ("v4.0.0", False)],
)
def test_pulumi_is_good_from_the_pinned_version_on(
    make_program: MakeProgram, version: str, good: bool
) -> None:
    make_program("pulumi-language-python", "")
    program = make_program("pulumi", version)
    assert found.on_path("pulumi") == (program if good else None)


def test_pulumi_without_its_python_host_is_not_good(make_program: MakeProgram) -> None:
    make_program("pulumi", f"v{versions.PULUMI}")
    assert found.on_path("pulumi") is None


def test_failing_program_is_not_good(make_program: MakeProgram) -> None:
    make_program("etcd", "").write_text("broken")
    assert found.on_path("etcd") is None


def test_tool_prefers_the_users_own(make_program: MakeProgram) -> None:
    program = make_program("kubectl", f"Client Version: v{versions.KUBERNETES}")
    assert toolchain.tool("kubectl") == program


def test_our_own_folder_on_path_is_not_the_users(
    monkeypatch: pytest.MonkeyPatch, make_program: MakeProgram
) -> None:
    ours = cache.folder(catalogue.groups()["kubernetes"]) / "bin"
    ours.mkdir(parents=True)
    make_program("kubectl", f"Client Version: v{versions.KUBERNETES}").rename(ours / "kubectl")
    monkeypatch.setenv("PATH", f"{ours}:/usr/bin:/bin")
    assert found.on_path("kubectl") is None
    assert toolchain.tool("kubectl") == ours / "kubectl"


def test_absent_tool_names_the_command_that_makes_it() -> None:
    with pytest.raises(LockstepError, match=r"kube-apiserver is not in .*run `make tools`"):
        toolchain.tool("kube-apiserver")
    with pytest.raises(LockstepError, match=r"run `python -m lockstep tools --lws 0\.7\.0`"):
        toolchain.tool("lws-manager-0.7.0")
    with pytest.raises(LockstepError, match="run `python -m lockstep tools --kind`"):
        toolchain.tool("kind")


def test_unknown_tool_is_an_error() -> None:
    with pytest.raises(LockstepError, match="no tool named helm"):
        toolchain.tool("helm")


def test_chart_is_none_unless_in_the_cache() -> None:
    assert toolchain.chart("lws", versions.LWS_DEFAULT) is None
    assert toolchain.chart("lws", "99.0.0") is None
    folder = cache.folder(catalogue.groups()["volcano"]) / "charts" / "volcano"
    folder.mkdir(parents=True)
    assert toolchain.chart("volcano", versions.VOLCANO) == folder
    assert toolchain.chart("volcano", "1.0.0") is None


def test_plugins_in_the_users_pulumi_home_make_ours_unnecessary() -> None:
    home = homes.users_own()
    groups = [catalogue.groups()[name] for name in found.PLUGINS]
    assert not any(found.has_group(group, home) for group in groups)
    for group in groups:
        plugin = found.plugin_path(home, group.name)
        plugin.parent.mkdir(parents=True)
        plugin.touch()
    assert all(found.has_group(group, home) for group in groups)


def test_group_with_a_chart_is_needed_whatever_is_on_path(make_program: MakeProgram) -> None:
    for name in ("vc-scheduler", "vc-controller-manager"):
        make_program(name, f"Version: v{versions.VOLCANO}")
    assert not found.has_group(catalogue.groups()["volcano"], homes.users_own())


def test_users_own_pulumi_makes_the_group_unnecessary(make_program: MakeProgram) -> None:
    assert not found.has_group(catalogue.groups()["pulumi"], homes.users_own())
    make_program("pulumi-language-python", "")
    make_program("pulumi", f"v{versions.PULUMI}")
    assert found.has_group(catalogue.groups()["pulumi"], homes.users_own())
