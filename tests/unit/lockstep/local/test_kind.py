"""Creating and deleting kind clusters, with scripts in place of kind and docker."""

import contextlib
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.local import kind, kind_config

CONFIG = kind_config.config("demo", "node@sha256:1", workers=2)

KIND = """#!/bin/sh
case "$1" in
  get) cat "$FAKE/clusters" 2>/dev/null; exit 0;;
  create)
    echo "Creating cluster" >&2
    echo demo > "$FAKE/clusters"
    touch "$FAKE/network"
    echo created >> "$FAKE/history"
    if [ -e "$FAKE/broken" ]; then echo "ERROR: failed to create cluster: no space" >&2; exit 1; fi
    echo "server: demo" > "$6";;
  delete) rm -f "$FAKE/clusters";;
esac
"""
DOCKER = """#!/bin/sh
case "$*" in
  "network inspect kind") [ -e "$FAKE/network" ];;
  "network rm kind") rm "$FAKE/network";;
esac
"""


class Machine:
    """A machine with kind and docker; `nodes` says which nodes of the cluster are ready."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = {"demo-control-plane": "True", "demo-worker": "True", "demo-worker2": "True"}

    def touch(self, name: str) -> None:
        (self.folder / name).write_text("demo\n")

    def has_cluster(self) -> bool:
        return (self.folder / "clusters").exists()

    def times_created(self) -> int:
        return len((self.folder / "history").read_text().split())

    def list_nodes(self, _: object) -> list[SimpleNamespace]:
        return [node(name, ready) for name, ready in self.nodes.items()]


def node(name: str, ready: str) -> SimpleNamespace:
    conditions = [SimpleNamespace(type="Ready", status=ready)]
    return SimpleNamespace(
        metadata=SimpleNamespace(name=name), status=SimpleNamespace(conditions=conditions)
    )


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    folder = tmp_path / "machine"
    folder.mkdir()
    for name, text in (("kind", KIND), ("docker", DOCKER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    machine = Machine(folder)
    monkeypatch.setenv("FAKE", str(folder))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv(kind.ENGINE, raising=False)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(toolchain, "tool", lambda name: folder / name)
    client = contextlib.nullcontext(SimpleNamespace(list=machine.list_nodes))
    monkeypatch.setattr(kube, "client", lambda *_: client)
    monkeypatch.setattr(kind, "READY_WITHIN", 0.1)
    monkeypatch.setattr(kind, "ADOPT_WITHIN", 0.1)
    monkeypatch.setattr(kind, "POLL_EVERY", 0.01)
    return machine


def test_created_cluster_has_a_private_kubeconfig_of_its_own(machine: Machine) -> None:
    made = kind.create("demo", CONFIG)
    path = paths.cluster_dir("demo") / "kubeconfig"
    assert made == {"kubeconfig": "server: demo\n", "kubeconfigPath": str(path)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert machine.has_cluster()


def test_cluster_of_an_interrupted_run_is_adopted(machine: Machine) -> None:
    first = kind.create("demo", CONFIG)
    assert kind.create("demo", CONFIG) == first
    assert machine.times_created() == 1


def test_cluster_that_is_not_ready_is_recreated(machine: Machine) -> None:
    kind.create("demo", CONFIG)
    machine.nodes["demo-worker"] = "False"
    with pytest.raises(LockstepError, match="timed out"):
        kind.create("demo", CONFIG)
    assert machine.times_created() == 2


def test_cluster_of_another_config_is_recreated(machine: Machine) -> None:
    kind.create("demo", CONFIG)
    kind.create("demo", kind_config.config("demo", "node@sha256:1", workers=1))
    assert machine.times_created() == 2


def test_cluster_that_lockstep_did_not_create_is_refused(machine: Machine) -> None:
    machine.touch("clusters")
    with pytest.raises(LockstepError, match="demo exists and this stack did not create it"):
        kind.create("demo", CONFIG)
    assert machine.has_cluster()


def test_failed_creation_leaves_nothing_and_has_a_one_line_error(
    machine: Machine, capfd: pytest.CaptureFixture[str]
) -> None:
    machine.touch("broken")
    with pytest.raises(LockstepError) as caught:
        kind.create("demo", CONFIG)
    assert str(caught.value) == (
        "kind cannot create the cluster demo: failed to create cluster: no space"
    )
    assert not machine.has_cluster()
    assert not paths.cluster_dir("demo").exists()
    assert "Creating cluster" in capfd.readouterr().err


def test_unreachable_image_registry_names_the_remedy(machine: Machine) -> None:
    machine.touch("broken")
    text = (machine.folder / "kind").read_text()
    said = text.replace("no space", 'failed to pull image \\"node\\": exit status 1')
    (machine.folder / "kind").write_text(said)
    with pytest.raises(LockstepError, match=r"image cannot be pulled; .*`make kind-image`"):
        kind.create("demo", CONFIG)


def test_nodes_that_do_not_become_ready_leave_nothing(machine: Machine) -> None:
    machine.nodes["demo-worker2"] = "False"
    with pytest.raises(LockstepError, match="2 of 3 nodes of the kind cluster are ready"):
        kind.create("demo", CONFIG)
    assert not paths.cluster_dir("demo").exists()


def test_delete_removes_cluster_folder_and_network_and_may_be_repeated(machine: Machine) -> None:
    kind.create("demo", CONFIG)
    assert (machine.folder / "network").exists()
    kind.delete("demo")
    kind.delete("demo")
    assert not machine.has_cluster()
    assert not paths.cluster_dir("demo").exists()
    assert not (machine.folder / "network").exists()


def test_delete_keeps_a_network_that_existed_before(machine: Machine) -> None:
    machine.touch("network")
    kind.create("demo", CONFIG)
    kind.delete("demo")
    assert (machine.folder / "network").exists()


def test_delete_keeps_a_cluster_that_lockstep_did_not_create(machine: Machine) -> None:
    machine.touch("clusters")
    kind.delete("demo")
    assert machine.has_cluster()


def test_missing_docker_names_the_remedy(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(machine.folder.parent))
    with pytest.raises(LockstepError, match="kind needs docker, which is not installed; install"):
        kind.create("demo", CONFIG)


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 30"])
def test_docker_that_does_not_answer_names_the_remedy(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    (machine.folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    monkeypatch.setattr(kind, "ANSWER_WITHIN", 0.2)
    with pytest.raises(LockstepError, match="docker is installed but does not answer; start it"):
        kind.create("demo", CONFIG)


@pytest.mark.usefixtures("machine")
def test_engine_that_the_user_chose_is_required_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kind.ENGINE, "missing-podman")
    with pytest.raises(LockstepError, match="kind needs missing-podman"):
        kind.create("demo", CONFIG)
