from pathlib import Path
from typing import Any

import pytest

import toolchain
from lockstep import processes, versions
from lockstep.errors import LockstepError
from lockstep.local import control_plane, embedded_cluster, ports
from lockstep.local.embedded_cluster import EmbeddedCluster


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    monkeypatch.setattr(toolchain, "tool", lambda name: Path(f"/tools/{name}"))


def fake_kwokctl(monkeypatch: pytest.MonkeyPatch, *faults: Exception | None) -> list[int]:
    """Replace kwokctl: each run fails with the next fault."""
    outcomes = iter(faults)
    seen: list[int] = []

    def run(made: EmbeddedCluster) -> None:
        seen.append(made.ports["apiserver"])
        if fault := next(outcomes):
            raise fault

    monkeypatch.setattr(control_plane, "start_control_plane", run)
    return seen


def test_control_plane_listens_on_loopback_only() -> None:
    config = control_plane.kwokctl_config(dict.fromkeys(control_plane.PORTS, 20000))
    assert config["options"]["bindAddress"] == "127.0.0.1"


def test_create_leaves_a_private_folder_and_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None)
    made = control_plane.create("one", "abc")
    assert oct(made.folder.stat().st_mode & 0o777) == "0o700"
    assert made.folder.with_suffix(".id").read_text() == f"abc {versions.KUBERNETES}\n"
    assert embedded_cluster.load("one") == made
    control_plane.delete("one")
    assert not made.folder.exists()
    assert not made.folder.with_suffix(".id").exists()
    control_plane.delete("one")


@pytest.fixture
def created(monkeypatch: pytest.MonkeyPatch) -> EmbeddedCluster:
    """A running cluster with the id abc and a file that another creation would remove."""
    fake_kwokctl(monkeypatch, None, None)
    monkeypatch.setattr(embedded_cluster, "missing", lambda _name: "")
    monkeypatch.setattr(control_plane, "_is_ready", lambda _cluster, _seconds: True)
    made = control_plane.create("one", "abc")
    (made.folder / "data").touch()
    return made


def test_create_keeps_the_running_cluster_of_the_same_id(created: EmbeddedCluster) -> None:
    """Pulumi runs the command again when its environment changes."""
    assert control_plane.create("one", "abc") == created
    assert (created.folder / "data").exists()


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (embedded_cluster, "missing", lambda _name: "etcd has ended"),
        (control_plane, "_is_ready", lambda _cluster, _seconds: False),
        (versions, "KUBERNETES", "1.99.0"),
    ],
    ids=["incomplete", "does not answer", "other version"],
)
def test_create_replaces_a_cluster_that_is_not_as_asked(
    created: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, value: Any
) -> None:
    monkeypatch.setattr(module, name, value)
    control_plane.create("one", "abc")
    assert not (created.folder / "data").exists()


def test_create_replaces_a_half_made_cluster(created: EmbeddedCluster) -> None:
    embedded_cluster.marker("one").unlink()
    control_plane.create("one", "abc")
    assert not (created.folder / "data").exists()


def test_create_removes_the_files_of_an_earlier_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None, None)
    folder = control_plane.create("one", "abc").folder
    (folder / "left-over").touch()
    control_plane.create("one", "def")
    assert not (folder / "left-over").exists()
    assert folder.with_suffix(".id").read_text() == f"def {versions.KUBERNETES}\n"


def test_failed_create_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [LockstepError("no")] * control_plane.ATTEMPTS
    fake_kwokctl(monkeypatch, *faults)
    with pytest.raises(LockstepError, match="no"):
        control_plane.create("one", "abc")
    assert list((tmp_path / "clusters").iterdir()) == []


def test_other_ports_are_chosen_when_one_was_taken_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = fake_kwokctl(monkeypatch, LockstepError("taken"), None)
    draws = iter([20000, 21000])
    monkeypatch.setattr(ports, "is_free", lambda port: port != 20000)
    monkeypatch.setattr(ports, "free_ports", lambda names: dict.fromkeys(names, next(draws)))
    assert control_plane.create("one", "abc").ports["apiserver"] == 21000
    assert tried == [20000, 21000]


def test_failure_with_all_ports_free_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = fake_kwokctl(monkeypatch, LockstepError("broken"))
    monkeypatch.setattr(ports, "is_free", lambda _port: True)
    with pytest.raises(LockstepError, match="broken"):
        control_plane.create("one", "abc")
    assert len(tried) == 1


def test_full_disk_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = fake_kwokctl(monkeypatch)
    monkeypatch.setattr(control_plane, "NEEDED_MIB", 2**40)
    with pytest.raises(
        LockstepError, match=r"MiB are free .* free some space, or set LOCKSTEP_STATE"
    ):
        control_plane.create("one", "abc")
    assert tried == []
    assert list((tmp_path / "clusters").iterdir()) == []


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EmbeddedCluster:
    """A cluster that is not created yet, and a kwokctl that reports a taken port and hangs."""
    folder = tmp_path / "clusters" / "one"
    folder.mkdir(parents=True)
    kwokctl = tmp_path / "kwokctl"
    kwokctl.write_text("#!/bin/sh\necho 'bind: address already in use'\nexec sleep 60\n")
    kwokctl.chmod(0o755)
    monkeypatch.setattr(toolchain, "tool", lambda _name: kwokctl)
    return EmbeddedCluster("one", folder, dict.fromkeys(control_plane.PORTS, 20000))


def test_kwokctl_that_waits_for_a_taken_port_is_ended(
    waiting: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_plane, "LOG_CHECK_SECONDS", 0.05)
    with pytest.raises(LockstepError, match=r"port .* is taken: bind: address already in use"):
        control_plane.start_control_plane(waiting)
    assert processes.of_cluster(waiting.folder) == []


def test_kwokctl_that_takes_too_long_is_ended(
    waiting: EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_plane, "CREATE_TIMEOUT", 0.0)
    with pytest.raises(LockstepError, match="timed out after 0 s waiting for kwokctl"):
        control_plane.start_control_plane(waiting)
    assert processes.of_cluster(waiting.folder) == []
