"""The user's own tools: used when their version is good, and never mistaken for ours."""

from collections.abc import Callable
from pathlib import Path

import pytest

import toolchain
from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, users_tools

MakeProgram = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("name", "says", "good"),
    [
        ("kubectl", f"Client Version: v{versions.KUBERNETES}\nKustomize Version: v5.7.1", True),
        ("kubectl", "Client Version: v1.34.0", True),
        ("kubectl", "Client Version: v1.33.0", False),
        ("kind", f"kind version {versions.KIND}", True),
        ("kind", "kind version 0.99.0", True),
        ("kind", "kind version 0.9.0", False),
        ("kind", "no version here", False),
        # The cluster's programs are always the toolchain's, so that every machine has the same.
        ("etcd", f"etcd Version: {versions.ETCD}", False),
    ],
)
def test_version_decides(make_program: MakeProgram, name: str, says: str, good: bool) -> None:
    program = make_program(name, says)
    assert users_tools.on_path(name) == (program if good else None)


@pytest.mark.parametrize(
    ("version", "good"),
    [(f"v{versions.PULUMI}", True), ("v3.999.0", True), ("v3.1.0", False), ("v4.0.0", False)],
)
def test_pulumi_is_good_from_the_pinned_version_on(
    make_program: MakeProgram, version: str, good: bool
) -> None:
    make_program("pulumi-language-python", "")
    program = make_program("pulumi", version)
    assert users_tools.on_path("pulumi") == (program if good else None)


def test_pulumi_without_its_python_host_is_not_good(make_program: MakeProgram) -> None:
    make_program("pulumi", f"v{versions.PULUMI}")
    assert users_tools.on_path("pulumi") is None


def test_failing_program_is_not_good(make_program: MakeProgram) -> None:
    make_program("kind", "").write_text("broken")
    assert users_tools.on_path("kind") is None


def test_our_own_folder_on_path_is_not_the_users(
    monkeypatch: pytest.MonkeyPatch, make_program: MakeProgram
) -> None:
    ours = cache.folder(catalogue.groups()["kubectl"]) / "bin"
    ours.mkdir(parents=True)
    make_program("kubectl", f"Client Version: v{versions.KUBERNETES}").rename(ours / "kubectl")
    monkeypatch.setenv("PATH", f"{ours}:/usr/bin:/bin")
    assert users_tools.on_path("kubectl") is None
    assert toolchain.tool("kubectl") == ours / "kubectl"


def test_absent_tool_names_the_command_that_makes_it() -> None:
    with pytest.raises(LockstepError, match=r"kube-apiserver is not in .*run `make tools`"):
        toolchain.tool("kube-apiserver")
    with pytest.raises(LockstepError, match=r"run `lockstep tools --lws 0\.7\.0`"):
        toolchain.tool("lws-manager-0.7.0")
    with pytest.raises(LockstepError, match=r"run `lockstep tools --volcano 1\.14\.1`"):
        toolchain.tool("vc-scheduler-1.14.1")
    with pytest.raises(LockstepError, match="run `lockstep tools --kind`"):
        toolchain.tool("kind")


def test_unknown_tool_is_an_error() -> None:
    with pytest.raises(LockstepError, match="no tool named helm"):
        toolchain.tool("helm")


def test_plugins_in_the_users_pulumi_home_make_ours_unnecessary() -> None:
    home = users_tools.pulumi_home()
    groups = [catalogue.groups()[name] for name in users_tools.PLUGINS]
    assert not any(users_tools.has_group(group) for group in groups)
    for group in groups:
        plugin = users_tools.plugin_path(home, group.name)
        plugin.parent.mkdir(parents=True)
        plugin.touch()
    assert all(users_tools.has_group(group) for group in groups)
