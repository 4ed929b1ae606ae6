"""kind itself is a script here: what matters is when it is called, and what is kept or removed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import toolchain
from lockstep import cli, paths
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.local import kind

CONFIG = kind.config("demo", 2, "node@sha256:1")

KIND = """#!/bin/sh
echo "$@" >> "$FAKE/calls"
case "$1" in
  get) cat "$FAKE/clusters" 2>/dev/null; exit 0;;
  create)
    echo "Creating cluster" >&2
    echo demo > "$FAKE/clusters"
    touch "$FAKE/network"
    if [ -e "$FAKE/broken" ]; then echo "ERROR: failed to create cluster: no space" >&2; exit 1; fi
    echo "server: demo" > "$6";;
  delete) rm -f "$FAKE/clusters";;
esac
"""
DOCKER = """#!/bin/sh
[ -e "$FAKE/docker-down" ] && exit 1
case "$*" in
  "network inspect kind") [ -e "$FAKE/network" ];;
  "network rm kind") rm "$FAKE/network";;
esac
"""


class Fake:
    """The machine: programs, and what they find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nodes = [("demo-control-plane", "True"), ("demo-w1", "True"), ("demo-w2", "True")]
        self.lost_once = 0
        """How many nodes the next look does not find ready."""

    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []

    def touch(self, name: str) -> None:
        (self.folder / name).write_text("demo\n")

    def watch(self, *_: Any, **__: Any) -> Iterator[tuple[str, Any]]:
        yield "ADDED", node("demo-control-plane", "False")
        lost, self.lost_once = self.lost_once, 0
        for name, ready in self.nodes[lost:]:
            yield "MODIFIED", node(name, ready)


def node(name: str, ready: str) -> SimpleNamespace:
    conditions = [SimpleNamespace(type="Ready", status=ready)]
    return SimpleNamespace(
        metadata=SimpleNamespace(name=name), status=SimpleNamespace(conditions=conditions)
    )


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "fake"
    folder.mkdir()
    for name, text in (("kind", KIND), ("docker", DOCKER)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    machine = Fake(folder)
    monkeypatch.setenv("FAKE", str(folder))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.delenv("KIND_EXPERIMENTAL_PROVIDER", raising=False)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(toolchain, "tool", lambda name: folder / name)
    monkeypatch.setattr(kube, "client", lambda *_: SimpleNamespace(watch=machine.watch))
    return machine


def test_config_has_a_control_plane_and_labelled_workers_of_one_image() -> None:
    assert yaml.safe_load(CONFIG) == {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": "demo",
        "nodes": [
            {"role": "control-plane", "image": "node@sha256:1"},
            {"role": "worker", "image": "node@sha256:1", "labels": {"lockstep.dev/worker": "true"}},
            {"role": "worker", "image": "node@sha256:1", "labels": {"lockstep.dev/worker": "true"}},
        ],
    }
    assert "&" not in CONFIG


def test_create_makes_a_cluster_with_a_kubeconfig_of_its_own(fake: Fake) -> None:
    made = kind.create("demo", CONFIG)
    path = paths.cluster_dir("demo") / "kubeconfig"
    assert made == {"kubeconfig": "server: demo\n", "kubeconfigPath": str(path)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert fake.calls() == ["get", "create"]


def test_create_takes_the_cluster_that_an_interrupted_run_made(fake: Fake) -> None:
    first = kind.create("demo", CONFIG)
    assert kind.create("demo", CONFIG) == first
    assert fake.calls() == ["get", "create", "get"]


def test_create_replaces_a_cluster_of_ours_that_is_not_ready(fake: Fake) -> None:
    kind.create("demo", CONFIG)
    fake.lost_once = 1
    kind.create("demo", CONFIG)
    assert fake.calls() == ["get", "create", "get", "delete", "create"]


def test_create_replaces_a_cluster_of_ours_of_another_config(fake: Fake) -> None:
    kind.create("demo", CONFIG)
    fake.nodes.append(("demo-w3", "True"))
    kind.create("demo", kind.config("demo", 3, "node@sha256:1"))
    assert fake.calls() == ["get", "create", "get", "delete", "create"]


def test_create_refuses_a_cluster_of_somebody_else(fake: Fake) -> None:
    fake.touch("clusters")
    with pytest.raises(LockstepError, match="kind cluster demo that this stack did not make"):
        kind.create("demo", CONFIG)
    assert fake.calls() == ["get"]


def test_create_that_fails_leaves_nothing_and_says_why_in_one_line(
    fake: Fake, capfd: pytest.CaptureFixture[str]
) -> None:
    fake.touch("broken")
    with pytest.raises(LockstepError) as caught:
        kind.create("demo", CONFIG)
    assert str(caught.value) == (
        "kind cannot create the cluster demo: failed to create cluster: no space"
    )
    assert fake.calls() == ["get", "create", "delete"]
    assert not paths.cluster_dir("demo").exists()
    assert "Creating cluster" in capfd.readouterr().err


def test_create_without_a_registry_says_what_to_do(fake: Fake) -> None:
    fake.touch("broken")
    text = (fake.folder / "kind").read_text()
    said = text.replace("no space", 'failed to pull image \\"node\\": exit status 1')
    (fake.folder / "kind").write_text(said)
    with pytest.raises(LockstepError, match=r"image cannot be pulled; .* make kind-image"):
        kind.create("demo", CONFIG)


def test_create_whose_nodes_do_not_come_up_leaves_nothing(fake: Fake) -> None:
    fake.nodes[2] = ("demo-w2", "False")
    with pytest.raises(LockstepError, match="2 of 3 nodes of the kind cluster are ready"):
        kind.create("demo", CONFIG)
    assert not paths.cluster_dir("demo").exists()


def test_node_that_goes_is_not_ready() -> None:
    changes = [("ADDED", node("a", "True")), ("DELETED", node("a", "True"))]
    client: Any = SimpleNamespace(
        watch=lambda *_, **__: iter([*changes, ("ADDED", node("b", "True"))])
    )
    with pytest.raises(LockstepError, match="1 of 2 nodes"):
        kind.await_ready(client, 2, 1)


def test_delete_removes_cluster_and_folder_and_may_be_repeated(fake: Fake) -> None:
    kind.create("demo", CONFIG)
    kind.delete("demo")
    kind.delete("demo")
    assert fake.calls() == ["get", "create", "delete"]
    assert not paths.cluster_dir("demo").exists()


def test_delete_removes_the_network_that_came_with_the_cluster(fake: Fake) -> None:
    kind.create("demo", CONFIG)
    assert (fake.folder / "network").exists()
    kind.delete("demo")
    assert not (fake.folder / "network").exists()


def test_delete_keeps_a_network_that_was_there_before(fake: Fake) -> None:
    fake.touch("network")
    kind.create("demo", CONFIG)
    kind.delete("demo")
    assert (fake.folder / "network").exists()


def test_delete_leaves_a_cluster_of_somebody_else_alone(fake: Fake) -> None:
    fake.touch("clusters")
    kind.delete("demo")
    assert fake.calls() == []


def test_missing_docker_is_an_error_that_says_what_to_do(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(fake.folder.parent))
    with pytest.raises(LockstepError, match="kind needs docker, which is not installed; install"):
        kind.create("demo", CONFIG)


def test_docker_that_does_not_answer_is_an_error_that_says_what_to_do(fake: Fake) -> None:
    fake.touch("docker-down")
    with pytest.raises(LockstepError, match="docker is installed but does not answer; start it"):
        kind.create("demo", CONFIG)


def test_docker_that_hangs_does_not_answer(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    (fake.folder / "docker").write_text("#!/bin/sh\nexec sleep 30\n")
    monkeypatch.setattr(kind, "ANSWER_WITHIN", 0.1)
    with pytest.raises(LockstepError, match="does not answer"):
        kind.create("demo", CONFIG)


@pytest.mark.usefixtures("fake")
def test_another_engine_of_kind_is_asked_for_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIND_EXPERIMENTAL_PROVIDER", "podman-of-nobody")
    with pytest.raises(LockstepError, match="kind needs podman-of-nobody"):
        kind.create("demo", CONFIG)


def test_kind_that_cannot_list_is_an_error_of_one_line(fake: Fake) -> None:
    (fake.folder / "kind").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(LockstepError, match="cannot list its clusters: it did not say why"):
        kind.create("demo", CONFIG)


@pytest.mark.usefixtures("fake")
class TestCommand:
    def test_create_prints_the_cluster_and_delete_removes_it(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("LOCKSTEP_CLUSTER", "demo")
        monkeypatch.setenv("LOCKSTEP_KIND_CONFIG", CONFIG)
        assert cli.main(["kind", "create"]) == 0
        assert json.loads(capsys.readouterr().out)["kubeconfig"] == "server: demo\n"
        assert cli.main(["kind", "delete"]) == 0
        assert not paths.cluster_dir("demo").exists()

    def test_without_a_cluster_it_says_what_is_missing(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("LOCKSTEP_CLUSTER", raising=False)
        assert cli.main(["kind", "create"]) == 2
        assert "LOCKSTEP_CLUSTER" in capsys.readouterr().err
