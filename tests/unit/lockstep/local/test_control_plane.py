import json
from pathlib import Path

import psutil
import pytest

import toolchain
from lockstep import processes
from lockstep.errors import LockstepError
from lockstep.local import control_plane as cluster
from lockstep.local import ports


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    monkeypatch.setattr(toolchain, "tool", lambda name: Path(f"/tools/{name}"))


def fake_kwokctl(monkeypatch: pytest.MonkeyPatch, *faults: Exception | None) -> list[int]:
    """Stand in for kwokctl: fail as told, once per run."""
    outcomes = iter(faults)
    seen: list[int] = []

    def run(made: cluster.EmbeddedCluster) -> None:
        seen.append(made.ports["apiserver"])
        if fault := next(outcomes):
            raise fault

    monkeypatch.setattr(cluster, "start_control_plane", run)
    return seen


def test_kwokctl_config_uses_local_binaries_our_ports_and_loopback() -> None:
    numbers = {name: 20000 + index for index, name in enumerate(cluster.PORTS)}
    config = cluster.kwokctl_config(numbers)
    options = config["options"]
    assert options["runtime"] == "binary"
    assert options["bindAddress"] == "127.0.0.1"
    assert options["disableQPSLimits"] is True
    assert options["kubeApiserverPort"] == numbers["apiserver"]
    assert options["etcdPeerPort"] == numbers["etcdPeer"]
    assert options["kubeApiserverBinary"] == "/tools/kube-apiserver"
    assert options["kwokControllerBinary"] == "/tools/kwok"


def test_create_leaves_a_private_folder_and_a_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None)
    made = cluster.create("one", "abc")
    assert oct(made.folder.stat().st_mode & 0o777) == "0o700"
    assert made.folder.with_suffix(".id").read_text() == "abc\n"
    assert cluster.load("one") == made
    cluster.delete("one")
    assert not made.folder.exists()
    assert not made.folder.with_suffix(".id").exists()
    cluster.delete("one")


def test_create_clears_what_an_earlier_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None, None)
    folder = cluster.create("one", "abc").folder
    (folder / "left-over").touch()
    cluster.create("one", "def")
    assert not (folder / "left-over").exists()
    assert folder.with_suffix(".id").read_text() == "def\n"


def test_a_failed_create_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [LockstepError("no")] * cluster.ATTEMPTS
    fake_kwokctl(monkeypatch, *faults)
    with pytest.raises(LockstepError, match="no"):
        cluster.create("one", "abc")
    assert list((tmp_path / "clusters").iterdir()) == []


def test_ports_taken_meanwhile_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = fake_kwokctl(monkeypatch, LockstepError("taken"), None)
    draws = iter([20000, 21000])
    monkeypatch.setattr(ports, "is_free", lambda port: port != 20000)
    monkeypatch.setattr(ports, "free_ports", lambda names: dict.fromkeys(names, next(draws)))
    assert cluster.create("one", "abc").ports["apiserver"] == 21000
    assert tried == [20000, 21000]


def test_a_failure_with_all_ports_free_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = fake_kwokctl(monkeypatch, LockstepError("broken"))
    monkeypatch.setattr(ports, "is_free", lambda _port: True)
    with pytest.raises(LockstepError, match="broken"):
        cluster.create("one", "abc")
    assert len(tried) == 1


def test_a_full_disk_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = fake_kwokctl(monkeypatch)
    monkeypatch.setattr(cluster, "NEEDED_MIB", 2**40)
    with pytest.raises(LockstepError, match=r"MiB are free .* make room, or set LOCKSTEP_STATE"):
        cluster.create("one", "abc")
    assert tried == []
    assert list((tmp_path / "clusters").iterdir()) == []


def test_load_of_a_cluster_that_is_gone_says_what_to_do() -> None:
    with pytest.raises(LockstepError, match="one is not there; `pulumi up` makes it anew"):
        cluster.load("one")


def test_incarnation_is_stable_while_the_cluster_lives_and_new_when_it_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, lost = cluster.incarnation("one")
    assert not lost
    fake_kwokctl(monkeypatch, None)
    made = cluster.create("one", first)
    made.pki.mkdir(parents=True)
    alive = [psutil.Process()]
    monkeypatch.setattr(processes, "named", lambda _folder, _name: alive)
    assert cluster.incarnation("one") == (first, False)

    alive.clear()
    second, lost = cluster.incarnation("one")
    assert lost
    assert second != first


def test_describe_holds_what_the_program_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None)
    made = cluster.create("one", "abc")
    made.pki.mkdir(parents=True)
    (made.pki / "ca.crt").write_text("authority")
    made.kubeconfig.write_text("kind: Config\n")
    described = json.loads(json.dumps(made.describe()))
    assert described["kubeconfig"] == "kind: Config\n"
    assert described["webhookUrl"] == f"https://127.0.0.1:{made.ports['lwsWebhook']}"
    assert described["webhookCa"] == "YXV0aG9yaXR5"


def test_last_words_prefer_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kwokctl(monkeypatch, None)
    made = cluster.create("one", "abc")
    logs = made.kwok_folder / "logs"
    logs.mkdir(parents=True)
    assert cluster._last_words(made) == "no log was written"
    (logs / "etcd.log").write_text("fine\nwrite: no space left on device\nlater\n")
    (logs / "kube-apiserver.log").write_text("some error\n")
    assert cluster._last_words(made) == "write: no space left on device"


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cluster.EmbeddedCluster:
    """A cluster to be, and a kwokctl that says why it waits, and waits."""
    folder = tmp_path / "clusters" / "one"
    folder.mkdir(parents=True)
    kwokctl = tmp_path / "kwokctl"
    kwokctl.write_text("#!/bin/sh\necho 'bind: address already in use'\nexec sleep 60\n")
    kwokctl.chmod(0o755)
    monkeypatch.setattr(toolchain, "tool", lambda _name: kwokctl)
    return cluster.EmbeddedCluster("one", folder, dict.fromkeys(cluster.PORTS, 20000))


def test_kwokctl_that_waits_for_a_taken_port_is_ended(
    waiting: cluster.EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "LOOK", 0.05)
    with pytest.raises(LockstepError, match=r"port .* is taken: bind: address already in use"):
        cluster.start_control_plane(waiting)
    assert processes.of_cluster(waiting.folder) == []


def test_kwokctl_that_takes_too_long_is_ended(
    waiting: cluster.EmbeddedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CREATE_TIMEOUT", 0.0)
    with pytest.raises(LockstepError, match="the control plane is not up after 0 s"):
        cluster.start_control_plane(waiting)
    assert processes.of_cluster(waiting.folder) == []
