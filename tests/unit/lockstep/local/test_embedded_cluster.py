import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.local import embedded_cluster as cluster
from lockstep.wait import wait_until


class RunningCluster:
    """The files of a complete cluster, and a process for each of its pid files."""

    def __init__(self) -> None:
        self.folder = paths.cluster_dir("one")
        kwok = self.folder / "kwok" / "clusters" / "one"
        (kwok / "pki").mkdir(parents=True)
        (kwok / "pids").mkdir()
        (self.folder / "operators" / "lws").mkdir(parents=True)
        (self.folder / "ports.json").write_text(json.dumps({"lwsWebhook": 20001}))
        cluster.marker("one").write_text("abc 1.34.4\n")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in cluster.CONTROL_PLANE:
            self.start(name, kwok / "pids")
        self.start("lws-manager", self.folder / "operators" / "lws")

    def start(self, name: str, folder: Path) -> None:
        command = [sys.executable, "-c", "import time; time.sleep(60)", f"{self.folder}/bin"]
        process = self.processes[name] = subprocess.Popen(command)
        # On a busy machine the command line of a process that has just begun is still empty.
        wait_until("the command line", psutil.Process(process.pid).cmdline, seconds=10, pause=0.01)
        (folder / f"{name}.pid").write_text(str(process.pid))

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningCluster]:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    made = RunningCluster()
    yield made
    for name in made.processes:
        made.kill(name)


def test_complete_cluster_keeps_its_id(running: RunningCluster) -> None:
    assert cluster.incarnation("one") == ("abc", "")


def test_cluster_that_was_never_created_has_lost_nothing(running: RunningCluster) -> None:
    first, lost = cluster.incarnation("two")
    assert lost == ""
    assert first != cluster.incarnation("two")[0]


@pytest.mark.parametrize("name", [*cluster.CONTROL_PLANE, "lws-manager"])
def test_every_process_that_has_ended_is_noticed(running: RunningCluster, name: str) -> None:
    running.kill(name)
    incarnation, lost = cluster.incarnation("one")
    assert lost == f"{name} has ended"
    assert incarnation != "abc"


def test_pid_of_another_program_is_no_process_of_the_cluster(running: RunningCluster) -> None:
    for name in ("etcd", "kube-scheduler"):
        pid_file = running.folder / "kwok" / "clusters" / "one" / "pids" / f"{name}.pid"
        pid_file.write_text("1")
    assert cluster.missing("one") == "etcd, kube-scheduler have ended"


def test_processes_are_noticed_without_proc(
    running: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS."""
    monkeypatch.setattr(cluster, "PROCESSES", Path("/no-such-folder"))
    assert cluster.missing("one") == ""
    running.kill("etcd")
    assert cluster.missing("one") == "etcd has ended"


def test_removed_folder_is_noticed(running: RunningCluster) -> None:
    (running.folder / "ports.json").unlink()
    assert cluster.incarnation("one")[1] == "its files are missing"


def test_load_of_a_missing_cluster_says_what_to_do(running: RunningCluster) -> None:
    assert cluster.load("one").ports == {"lwsWebhook": 20001}
    with pytest.raises(LockstepError, match="two does not exist; `pulumi up` recreates it"):
        cluster.load("two")


def test_module_is_light_enough_for_the_pulumi_program() -> None:
    code = "import sys, lockstep.local.embedded_cluster; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=paths.checkout_dir(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"psutil", "yaml", "lightkube", "httpx"} & set(done.stdout.split())
