import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from lockstep import processes
from lockstep.local import restart_loop, supervisor

SLEEP = "import sys, time; print(sys.argv[1], flush=True); time.sleep(60)"


def sleeper(text: str) -> supervisor.Commands:
    return {"sleeper": [sys.executable, "-c", SLEEP, text]}


def await_log(folder: Path, text: str) -> None:
    deadline = time.monotonic() + 10
    while (folder / "sleeper.log").read_text() != text:
        assert time.monotonic() < deadline, (folder / "sleeper.log").read_text()
        time.sleep(0.02)


def child(folder: Path) -> psutil.Process:
    (found,) = psutil.Process(int((folder / "sleeper.pid").read_text())).children()
    return found


def test_program_is_restarted_after_a_crash_and_on_a_new_command(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster"
    folder = cluster / "operators"
    folder.mkdir(parents=True)
    try:
        supervisor.run(folder, cluster, sleeper("100% 'a'"))
        await_log(folder, "100% 'a'\n")
        assert oct((folder / "sleeper.log").stat().st_mode & 0o777) == "0o600"

        first = child(folder)
        first.kill()
        await_log(folder, "100% 'a'\n" * 2)

        supervisor.run(folder, cluster, sleeper("b"))
        await_log(folder, "100% 'a'\n" * 2 + "b\n")
        assert len(processes.of_cluster(cluster)) == 2, "one loop and one program"
    finally:
        processes.end_all(cluster)


def test_stale_pid_file_kills_no_other_process(tmp_path: Path) -> None:
    (tmp_path / "old.pid").write_text(str(os.getpid()))
    supervisor.run(tmp_path, tmp_path, {})
    assert not (tmp_path / "old.pid").exists()


def test_log_that_grows_too_large_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.log"
    log.write_text("12345")
    monkeypatch.setattr(restart_loop, "LARGEST_LOG", 4)

    def stop(_seconds: float) -> None:
        raise InterruptedError

    monkeypatch.setattr(time, "sleep", stop)
    with pytest.raises(InterruptedError):
        restart_loop.limit_size(str(log))
    assert log.read_text() == ""
