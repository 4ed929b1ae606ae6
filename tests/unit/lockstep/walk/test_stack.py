"""A stack through the Automation API, with a pretended backend."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest
import yaml

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.walk import orphans
from lockstep.walk.stack import Stack
from tests.unit.lockstep.walk.fakes import CONFIG, FakeBackend, failure


def stack(changes: dict[str, object] | None = None) -> Stack:
    made = Stack("gang", {})
    made.write_config(changes=changes)
    return made


def test_generated_config_keeps_the_salt_that_pulumi_wrote_and_stacks_has_none(
    project: Path, backend: FakeBackend
) -> None:
    made = stack()
    made.up()
    with made.path.open("a") as file:
        file.write("encryptionsalt: v1:x\n")  # as Pulumi does
    made.write_config()
    assert yaml.safe_load(made.path.read_text())["encryptionsalt"] == "v1:x"
    assert backend.config_files == [made.path]
    assert (project / "stacks" / "Pulumi.gang.yaml").read_text() == CONFIG


def test_log_begins_anew_and_pulumi_has_it(
    backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "out_dir", lambda: tmp_path / "out")
    made = stack()
    made.start_log().write_text("of an earlier update")
    log = made.start_log()
    assert log == tmp_path / "out" / "pulumi-gang.log"
    assert log.read_text() == ""
    made.up()
    assert backend.logs == {log}


def test_tools_that_were_just_made_are_in_the_environment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a new machine the stack is there before the tools are."""
    stack = Stack("gang", {"LOCKSTEP_RECEIPTS": "kept"})
    stack.write_config()
    monkeypatch.setattr(
        toolchain,
        "ensure",
        lambda _: monkeypatch.setattr(toolchain, "environment", lambda: {"a": "b"}),
    )
    stack.ensure_tools()
    assert stack.environment == {"a": "b", "LOCKSTEP_RECEIPTS": "kept"}


def test_unknown_stack_is_an_error_that_names_the_known_ones(project: Path) -> None:
    with pytest.raises(LockstepError, match="there is no stack nope; choose one of gang"):
        Stack("nope", {}).write_config()


@pytest.mark.parametrize(
    ("text", "reason"), [("config: [", "is not YAML: while parsing"), ("words", "has no `config:`")]
)
def test_file_that_is_no_config_is_an_error_of_one_line(
    project: Path, text: str, reason: str
) -> None:
    (project / "stacks" / "Pulumi.gang.yaml").write_text(text)
    with pytest.raises(LockstepError, match=reason) as caught:
        stack()
    assert len(str(caught.value).splitlines()) == 1


def test_update_that_the_engine_never_began_has_the_reason_of_the_cli(
    backend: FakeBackend,
) -> None:
    backend.stacks["gang"] = 0
    backend.failures["up"] = failure("warning: old\nerror: passphrase must be set\n")
    assert stack().up().reason == "passphrase must be set"


def test_update_beside_another_one_says_so(backend: FakeBackend) -> None:
    backend.stacks["gang"] = 0
    backend.failures["up"] = failure("error: the stack is currently locked by 1 lock(s)")
    assert stack().up().reason.startswith("another update of the stack gang is running")


def test_stack_that_cannot_be_created_is_an_error_of_one_line(backend: FakeBackend) -> None:
    backend.failures["init"] = failure("error: invalid name")
    with pytest.raises(LockstepError, match=r"^cannot create the stack gang: invalid name$"):
        stack().up()


def test_down_removes_the_stack_and_says_how_much(backend: FakeBackend, deleted: list[str]) -> None:
    backend.stacks |= {"gang": 3, "other": 1}
    assert stack().down().resources == 3
    assert backend.stacks == {"other": 1}
    assert deleted == ["lockstep-gang"]


@pytest.mark.parametrize(("provider", "in_kind"), [("kind", ["lockstep-gang"]), ("existing", [])])
def test_down_of_an_unknown_stack_clears_what_a_killed_update_left(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    deleted: list[str],
    provider: str,
    in_kind: list[str],
) -> None:
    containers: list[str] = []
    ended: list[Path] = []
    monkeypatch.setattr("lockstep.local.kind.delete", containers.append)

    def end_all(folder: Path) -> int:
        ended.append(folder)
        return 2

    monkeypatch.setattr("lockstep.processes.end_all", end_all)
    removal = stack({"clusterProvider": provider}).down()
    assert (removal.resources, removal.processes) == (None, 2)
    assert containers == in_kind
    assert deleted == ["lockstep-gang"], "the folder with recordings is removed, too"
    assert ended == [paths.cluster_dir("lockstep-gang")]


def test_down_of_an_embedded_cluster_goes_on_when_destroy_fails(
    backend: FakeBackend, deleted: list[str]
) -> None:
    backend.stacks["gang"] = 3
    backend.failures["destroy"] = failure("error: no luck")
    stack().down()
    assert backend.stacks == {}
    assert deleted == ["lockstep-gang"]


@pytest.mark.parametrize("provider", ["kind", "existing"])
def test_down_of_another_cluster_keeps_the_state_when_destroy_fails(
    backend: FakeBackend, deleted: list[str], provider: str
) -> None:
    backend.stacks["gang"] = 3
    backend.failures["destroy"] = failure("error: no luck")
    with pytest.raises(LockstepError, match=r"^cannot destroy the stack gang: no luck$"):
        stack({"clusterProvider": provider}).down()
    assert backend.stacks == {"gang": 3}
    assert deleted == []


def test_leftovers_are_ended_before_and_after_an_update(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge of a killed update would judge the same pods as that of the next."""
    ended: list[tuple[Path, bool]] = []

    def end(project: Path) -> int:
        ended.append((project, bool(backend.config_files)))
        return 0

    monkeypatch.setattr(orphans, "end", end)
    backend.stacks["gang"] = 0
    stack().up()
    assert ended == [(paths.checkout_dir(), False), (paths.checkout_dir(), True)]


def lock(pid: int, host: str = "") -> Path:
    folder = paths.state_dir() / "backend/.pulumi/locks/organization/lockstep/gang"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{pid}{host}.json"
    path.write_text(json.dumps({"pid": pid, "hostname": host or socket.gethostname()}))
    return path


@pytest.mark.parametrize("act", [Stack.up, Stack.down])
def test_only_locks_of_ended_processes_of_this_machine_are_released(
    backend: FakeBackend, deleted: list[str], act: object
) -> None:
    url = (paths.state_dir() / "backend").as_uri()
    made = Stack("gang", {"PULUMI_BACKEND_URL": url})
    made.write_config()
    dead, alive, elsewhere = lock(2**22 + 1), lock(os.getpid()), lock(2**22 + 2, "other")
    act(made)  # type: ignore[operator]
    assert [path.exists() for path in (dead, alive, elsewhere)] == [False, True, True]


def test_lock_of_a_process_that_is_only_not_reaped_is_released(
    backend: FakeBackend,
) -> None:
    """In a container, the first process may reap what others have left late, or never."""
    url = (paths.state_dir() / "backend").as_uri()
    made = Stack("gang", {"PULUMI_BACKEND_URL": url})
    made.write_config()
    with subprocess.Popen(["true"]) as zombie:
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        dead = lock(zombie.pid)
        made.up()
    assert not dead.exists()


def test_locks_in_a_shared_backend_are_left_alone(backend: FakeBackend, deleted: list[str]) -> None:
    made = Stack("gang", {"PULUMI_BACKEND_URL": "s3://shared"})
    made.write_config()
    dead = lock(2**22 + 1)
    made.down()
    assert dead.exists()
