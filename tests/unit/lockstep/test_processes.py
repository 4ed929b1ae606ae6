import platform
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.wait import wait_until

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def start(folder: Path, mark: str | None = None) -> subprocess.Popen[bytes]:
    environment = processes.marked_environment(folder)
    if mark:
        environment[processes.MARK] = mark
    process = subprocess.Popen(SLEEP, env=environment, cwd=folder.parent)
    deadline = time.monotonic() + 5
    while not processes.of_cluster(folder):  # the environment is visible only after the exec
        assert time.monotonic() < deadline
    return process


def test_end_all_ends_the_processes_of_one_cluster_only(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "mine-too"
    first, second = start(mine), start(other)
    try:
        assert [p.pid for p in processes.of_cluster(mine)] == [first.pid]
        assert processes.end_all(mine) == 1
        assert first.wait(timeout=5) != 0
        assert second.poll() is None
    finally:
        second.kill()
        second.wait()


@pytest.mark.parametrize("mark", ["mine", "./state/../mine", "link/mine"])
def test_relative_and_symlinked_folders_are_the_same_cluster(tmp_path: Path, mark: str) -> None:
    """A shell writes the path as the user gave it."""
    (tmp_path / "state").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    child = start(tmp_path / "mine", mark)
    assert processes.end_all(tmp_path / "link" / "mine") == 1
    child.wait()


def test_end_all_does_not_wait_for_a_zombie_to_be_reaped(tmp_path: Path) -> None:
    child = start(tmp_path)
    assert processes.end_all(tmp_path) == 1
    # Its parent, this test, has not reaped the child yet.
    assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    child.wait()


def test_process_of_which_only_the_main_thread_has_ended_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It still has its ports."""
    number = {"x86_64": 60}.get(platform.machine(), 93)  # of the system call `exit`
    code = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); "
        f"ctypes.CDLL(None).syscall({number}, 0)"
    )
    child = subprocess.Popen([sys.executable, "-c", code])
    process = psutil.Process(child.pid)
    wait_until("a zombie", lambda: process.status() == psutil.STATUS_ZOMBIE, 10)
    monkeypatch.setattr(psutil.Process, "kill", lambda _self: None)
    monkeypatch.setattr(processes, "PATIENCE", 0.05)
    with pytest.raises(LockstepError, match="do not end"):
        processes.end([process], "the test")
    monkeypatch.undo()
    processes.end([process], "the test")
    child.wait()


def test_command_of_the_cluster_does_not_end_itself(tmp_path: Path) -> None:
    """Nor the shell by which Pulumi has started it: the shell has the mark, too."""
    code = (
        "import pathlib, sys; from lockstep import processes; "
        "print(processes.end_all(pathlib.Path(sys.argv[1])))"
    )
    done = subprocess.run(
        ["sh", "-c", '"$@"; echo still here', "sh", sys.executable, "-c", code, str(tmp_path)],
        env=processes.marked_environment(tmp_path),
        cwd=paths.checkout_dir(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["0", "still here"]


def test_process_that_does_not_end_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = start(tmp_path)
    monkeypatch.setattr(psutil.Process, "kill", lambda _self: None)
    monkeypatch.setattr(processes, "PATIENCE", 0.05)
    with pytest.raises(LockstepError, match=f"processes {child.pid} .* kill them"):
        processes.end_all(tmp_path)
    monkeypatch.undo()
    child.kill()
    child.wait()
