from functools import partial
from pathlib import Path

import pytest

import toolchain
from lockstep import paths, versions
from lockstep.errors import LockstepError
from lockstep.local import command_lines, control_plane, embedded_cluster, ports, supervisor
from lockstep.local.embedded_cluster import EmbeddedCluster


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    monkeypatch.setattr(toolchain, "tool", lambda name: Path(f"/tools/{name}"))
    monkeypatch.setattr(embedded_cluster, "is_supervised", lambda _name: True)
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: True)


def fake_start(monkeypatch: pytest.MonkeyPatch, *faults: Exception | None) -> list[int]:
    """Replace the start of the processes: each start fails with the next fault."""
    outcomes = iter(faults)
    seen: list[int] = []

    def start(made: EmbeddedCluster, _seconds: float, _give_up: object = None) -> None:
        seen.append(made.ports["apiserver"])
        if fault := next(outcomes):
            raise fault
        (made.folder / "etcd" / "member").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(control_plane, "start", start)
    return seen


def test_create_leaves_a_private_folder_and_the_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_start(monkeypatch, None)
    made = control_plane.create("one", "abc", "run")
    assert oct(made.folder.stat().st_mode & 0o777) == "0o700"
    assert embedded_cluster.marked("one") == ["abc", versions.KUBERNETES, "run"]
    assert embedded_cluster.load("one") == made
    control_plane.delete("one")
    assert not made.folder.exists()
    assert not made.folder.with_suffix(".id").exists()
    control_plane.delete("one")


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The starts of a cluster of the incarnation abc and the run r1."""
    seen = fake_start(monkeypatch, None, None)
    control_plane.create("one", "abc", "r1")
    (embedded_cluster.load("one").folder / "data").touch()
    return seen


def has_data() -> bool:
    return (embedded_cluster.load("one").folder / "data").exists()


def test_create_returns_the_running_cluster(starts: list[int]) -> None:
    """Pulumi runs the command again when its environment changes."""
    assert control_plane.create("one", "abc", "r1") == embedded_cluster.load("one")
    assert has_data()
    assert len(starts) == 1


def test_running_cluster_that_does_not_answer_is_an_error(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not replaced: the stack's state says that its objects are still there."""
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: False)
    with pytest.raises(LockstepError, match="the cluster one does not answer: no log was written"):
        control_plane.create("one", "abc", "r1")
    assert has_data()


def test_create_starts_a_cluster_that_ended_with_its_data_and_ports(starts: list[int]) -> None:
    control_plane.create("one", "abc", "r2")
    assert has_data()
    assert len(starts) == 2
    assert len(set(starts)) == 1
    assert embedded_cluster.marked("one")[2] == "r2"


def test_create_starts_a_cluster_that_ended_since_the_plan(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_cluster, "is_supervised", lambda _name: False)
    control_plane.create("one", "abc", "r1")
    assert len(starts) == 2


def test_create_adopts_a_cluster_whose_supervisor_has_ended(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    adopted: list[Path] = []
    monkeypatch.setattr(embedded_cluster, "is_supervised", lambda _name: False)
    monkeypatch.setattr(embedded_cluster, "runs", lambda _name: True)
    monkeypatch.setattr(supervisor, "start", adopted.append)
    control_plane.create("one", "abc", "r2")
    assert adopted == [embedded_cluster.load("one").folder]
    assert len(starts) == 1
    assert embedded_cluster.marked("one")[2] == "r2"


def test_create_starts_a_cluster_that_cannot_be_adopted(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_cluster, "runs", lambda _name: True)
    monkeypatch.setattr(supervisor, "start", lambda _folder: None)
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: False)
    control_plane.create("one", "abc", "r2")
    assert len(starts) == 2


def test_port_that_another_program_took_meanwhile_is_named(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ports, "is_free", lambda port: port != starts[0])
    with pytest.raises(LockstepError, match=f"port {starts[0]} of the cluster one is used by"):
        control_plane.create("one", "abc", "r2")
    assert has_data()


def test_create_replaces_a_cluster_of_another_version(
    starts: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "KUBERNETES", "1.99.0")
    control_plane.create("one", "abc", "r1")
    assert not has_data()


def test_create_replaces_a_half_made_cluster(starts: list[int]) -> None:
    embedded_cluster.marker("one").unlink()
    control_plane.create("one", "abc", "r1")
    assert not has_data()


def test_create_removes_the_files_of_an_earlier_incarnation(starts: list[int]) -> None:
    control_plane.create("one", "def", "r1")
    assert not has_data()
    assert embedded_cluster.marked("one") == ["def", versions.KUBERNETES, "r1"]


def test_failed_create_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [LockstepError("no")] * control_plane.ATTEMPTS
    fake_start(monkeypatch, *faults)
    with pytest.raises(LockstepError, match="no"):
        control_plane.create("one", "abc", "run")
    assert list((tmp_path / "clusters").iterdir()) == []


def test_other_ports_are_chosen_when_one_was_taken_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = fake_start(monkeypatch, LockstepError("taken"), None)
    draws = iter([20000, 21000])
    monkeypatch.setattr(ports, "is_free", lambda port: port != 20000)
    monkeypatch.setattr(ports, "free_ports", lambda names: dict.fromkeys(names, next(draws)))
    assert control_plane.create("one", "abc", "run").ports["apiserver"] == 21000
    assert tried == [20000, 21000]


def test_failure_with_all_ports_free_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = fake_start(monkeypatch, LockstepError("broken"))
    monkeypatch.setattr(ports, "is_free", lambda _port: True)
    with pytest.raises(LockstepError, match="broken"):
        control_plane.create("one", "abc", "run")
    assert len(tried) == 1


def test_full_disk_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = fake_start(monkeypatch)
    monkeypatch.setattr(control_plane, "NEEDED_MIB", 2**40)
    with pytest.raises(
        LockstepError, match=r"MiB are free .* free some space, or set LOCKSTEP_STATE"
    ):
        control_plane.create("one", "abc", "run")
    assert tried == []
    assert list((tmp_path / "clusters").iterdir()) == []


def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> EmbeddedCluster:
    """A cluster whose processes only write a log."""
    monkeypatch.undo()
    monkeypatch.setattr(command_lines, "control_plane", lambda _: {"etcd": 1, "kube-apiserver": 2})
    monkeypatch.setattr(supervisor, "run", lambda _folder, _programs: None)
    log = paths.program_log(tmp_path, "kube-apiserver")
    log.parent.mkdir()
    log.write_text(text)
    (port,) = ports.free_ports(["apiserver"]).values()
    return EmbeddedCluster("one", tmp_path, {"apiserver": port})


def test_start_ends_at_once_when_a_port_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = logged(tmp_path, monkeypatch, "listen: bind: address already in use\n")
    with pytest.raises(LockstepError, match=r"port .* is taken: .* address already in use"):
        control_plane.start(cluster, 60, partial(control_plane._give_up, cluster))


def test_old_line_about_a_taken_port_does_not_matter_to_a_cluster_that_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = logged(tmp_path, monkeypatch, "listen: bind: address already in use\n")
    monkeypatch.setattr(ports, "listens", lambda _port: True)
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: True)
    monkeypatch.setattr(embedded_cluster, "runs", lambda _name: False)
    control_plane._resume(cluster)


def test_start_that_takes_too_long_names_the_last_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = logged(tmp_path, monkeypatch, "Error: no\nlast line\n")
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: False)
    with pytest.raises(LockstepError, match=r"timed out after 0 s waiting .* server: Error: no"):
        control_plane.start(cluster, 0)
