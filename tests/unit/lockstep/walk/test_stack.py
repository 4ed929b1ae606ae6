"""A stack through the Pulumi command line, with a pretended `pulumi`."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.local import control_plane
from lockstep.walk.stack import Stack

PRETENDED = """#!/bin/sh
echo "$@" >> "$PRETENDED_LOG"
case "$1 $2" in
  "stack ls") echo "$PRETENDED_STACKS" ;;
  "stack output") echo '{"a": 1}' ;;
  "stack init") printf 'encryptionsalt: v1:x\\n' >> "$PRETENDED_USUAL" ;;
  "up "*) printf 'encryptionsalt: v1:y\\n' >> "$PRETENDED_CONFIG" ;;
esac
case "$PRETENDED_FAILS" in *"$1"*) echo "error: no luck" >&2; exit 1 ;; esac
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one stack, and a `pulumi` that notes what it is asked for."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text(
        "config:\n  clusterProvider: {default: kwok}\n  clusterName: {default: ''}\n"
    )
    config = tmp_path / "stacks" / "Pulumi.gang.yaml"
    config.write_text("config:\n  lockstep:scenarios: [gang]\n")
    pulumi = tmp_path / "pulumi"
    pulumi.write_text(PRETENDED)
    pulumi.chmod(pulumi.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PRETENDED_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PRETENDED_STACKS", "[]")
    monkeypatch.setenv("PRETENDED_USUAL", str(config))
    monkeypatch.setenv("PRETENDED_CONFIG", str(config))
    monkeypatch.setenv("PRETENDED_FAILS", "")
    monkeypatch.setattr(paths, "project_dir", lambda: tmp_path)
    monkeypatch.setattr(toolchain, "tool", lambda _name: pulumi)
    monkeypatch.setattr(toolchain, "environment", dict)
    return tmp_path


def asked(project: Path) -> list[str]:
    log = project / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_config_is_the_stacks_own_or_the_projects_default(project: Path) -> None:
    stack = Stack("gang")
    assert stack.config("scenarios") == ["gang"]
    assert stack.config("clusterProvider") == "kwok"
    assert stack.cluster_name() == "lockstep-gang"


def test_select_makes_an_unknown_stack_and_leaves_no_salt(project: Path) -> None:
    Stack("gang").select()
    assert asked(project)[-1].startswith("stack init --no-select gang")
    assert "encryptionsalt" not in (project / "stacks" / "Pulumi.gang.yaml").read_text()


def test_select_of_a_known_stack_makes_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRETENDED_STACKS", json.dumps([{"name": "organization/lockstep/gang"}]))
    Stack("gang").select()
    assert not [line for line in asked(project) if "init" in line]


@pytest.mark.parametrize("act", [Stack.select, Stack.down])
def test_no_stack_names_those_there_are(project: Path, act: Callable[[Stack], None]) -> None:
    with pytest.raises(LockstepError, match="there is no stack nope; choose one of gang"):
        act(Stack("nope"))
    assert asked(project) == []


@pytest.mark.parametrize(
    ("text", "reason"), [("config: [", "is not YAML: while parsing"), ("words", "has no `config:`")]
)
def test_a_file_that_is_no_config_is_one_line(project: Path, text: str, reason: str) -> None:
    (project / "stacks" / "Pulumi.gang.yaml").write_text(text)
    with pytest.raises(LockstepError, match=reason) as caught:
        Stack("gang").select()
    assert len(str(caught.value).splitlines()) == 1


def test_a_config_file_elsewhere_leaves_none_in_stacks(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRETENDED_USUAL", str(project / "stacks" / "Pulumi.demo.yaml"))
    own = project / "own.yaml"
    own.write_text("config: {}\n")
    stack = Stack("demo", own)
    stack.select()
    assert not (project / "stacks" / "Pulumi.demo.yaml").exists()
    stack.up()
    assert f"--stack demo --config-file {own}" in asked(project)[-1]


def test_a_config_file_elsewhere_never_takes_the_name_of_another(project: Path) -> None:
    own = project / "own.yaml"
    own.write_text("config: {}\n")
    with pytest.raises(LockstepError, match="the name gang is taken by"):
        Stack("gang", own).select()
    assert (project / "stacks" / "Pulumi.gang.yaml").exists()


def test_up_leaves_the_shared_file_as_it_was(project: Path) -> None:
    file = project / "stacks" / "Pulumi.gang.yaml"
    before = file.read_text()
    Stack("gang").up()
    assert file.read_text() == before


def test_a_salt_that_secrets_need_stays(project: Path) -> None:
    file = project / "stacks" / "Pulumi.gang.yaml"
    file.write_text("config:\n  lockstep:x: {secure: v1:abc}\nencryptionsalt: v1:z\n")
    Stack("gang").outputs()
    assert "encryptionsalt: v1:z" in file.read_text()


def test_outputs_are_read_as_json(project: Path) -> None:
    assert Stack("gang").outputs() == {"a": 1}
    assert "--stack gang" in asked(project)[-1]


def test_a_failure_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETENDED_FAILS", "stack")
    with pytest.raises(LockstepError, match=r"^pulumi stack of gang failed: no luck$"):
        Stack("gang").outputs()


class Deleted:
    """Notes which embedded clusters were removed."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str) -> None:
        self.names.append(name)


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch) -> Deleted:
    record = Deleted()
    monkeypatch.setattr(control_plane, "delete", record)
    return record


@pytest.mark.parametrize(
    ("provider", "asked_kind"), [("kind", ["lockstep-gang"]), ("existing", [])]
)
def test_down_elsewhere_clears_what_a_killed_run_left(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    deleted: Deleted,
    provider: str,
    asked_kind: list[str],
) -> None:
    containers: list[str] = []
    monkeypatch.setattr("lockstep.local.kind.delete", containers.append)
    file = project / "stacks" / "Pulumi.gang.yaml"
    file.write_text(f"config:\n  lockstep:clusterProvider: {provider}\n")
    Stack("gang").down()
    assert containers == asked_kind
    assert deleted.names == ["lockstep-gang"], "the folder with recordings goes, too"


def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRETENDED_STACKS", json.dumps([{"name": "gang"}]))


def test_down_unlocks_destroys_and_forgets(
    project: Path, monkeypatch: pytest.MonkeyPatch, deleted: Deleted
) -> None:
    known(monkeypatch)
    Stack("gang").down(log=project / "down.log")
    verbs = [" ".join(line.split()[:2]) for line in asked(project)]
    assert verbs == ["stack ls", "cancel --yes", "destroy --yes", "stack rm"]
    assert deleted.names == ["lockstep-gang"]


def test_down_first_ends_what_a_killed_pulumi_left_and_then_the_clusters_commands(
    project: Path, monkeypatch: pytest.MonkeyPatch, deleted: Deleted
) -> None:
    """In this order: a plugin could start one more command, and a command one more cluster."""
    known(monkeypatch)
    ended: list[tuple[Path, list[str]]] = []

    def note(folder: Path) -> int:
        ended.append((folder, [*(line.split()[0] for line in asked(project)), *deleted.names]))
        return 0

    monkeypatch.setattr("lockstep.local.strays.end", note)
    monkeypatch.setattr("lockstep.processes.end_all", note)
    Stack("gang").down(log=project / "down.log")
    assert ended == [
        (project, []),
        (project / "state" / "clusters" / "lockstep-gang", ["stack", "cancel", "destroy", "stack"]),
    ]


def test_down_of_nothing_still_clears_what_a_killed_run_left(
    project: Path, deleted: Deleted
) -> None:
    Stack("gang").down()
    assert deleted.names == ["lockstep-gang"]


def test_down_of_an_embedded_cluster_goes_on_when_destroy_fails(
    project: Path, monkeypatch: pytest.MonkeyPatch, deleted: Deleted
) -> None:
    known(monkeypatch)
    monkeypatch.setenv("PRETENDED_FAILS", "destroy")
    Stack("gang").down()
    assert asked(project)[-1].startswith("stack rm --yes --force --preserve-config gang")
    assert deleted.names == ["lockstep-gang"]


@pytest.mark.parametrize("provider", ["kind", "existing"])
def test_down_elsewhere_keeps_the_state_when_destroy_fails(
    project: Path, monkeypatch: pytest.MonkeyPatch, deleted: Deleted, provider: str
) -> None:
    known(monkeypatch)
    file = project / "stacks" / "Pulumi.gang.yaml"
    file.write_text(f"config:\n  lockstep:clusterProvider: {provider}\n")
    monkeypatch.setenv("PRETENDED_FAILS", "destroy")
    with pytest.raises(LockstepError, match="could not destroy gang"):
        Stack("gang").down()
    assert not [line for line in asked(project) if line.startswith("stack rm")]
    assert deleted.names == []


def test_environment_of_the_toolchain_comes_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    extra: dict[str, Any] = {"PULUMI_HOME": "/home"}
    monkeypatch.setattr(toolchain, "environment", lambda: extra)
    monkeypatch.setenv("KEPT", "yes")
    environment = Stack("gang").environment
    assert (environment["PULUMI_HOME"], environment["KEPT"]) == ("/home", "yes")
