import configparser
import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from lockstep import processes
from lockstep.errors import LockstepError
from lockstep.local import supervisor

SLEEP = "import os, sys, time; print(os.environ['WHO'], flush=True); time.sleep(60)"


def program(who: str) -> supervisor.Program:
    return supervisor.Program("sleeper", [sys.executable, "-c", SLEEP], {"WHO": who})


def child(folder: Path) -> psutil.Process:
    pid = int((folder / "supervisord.pid").read_text())
    deadline = time.monotonic() + 10
    while not (children := psutil.Process(pid).children()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return children[0]


def await_log(folder: Path, text: str) -> None:
    deadline = time.monotonic() + 10
    while text not in (folder / "sleeper.log").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_configuration_keeps_percent_signs_and_quotes(tmp_path: Path) -> None:
    words = ["/a b/tool", '--say="100%"']
    text = supervisor.configuration(tmp_path, [supervisor.Program("p", words, {"K": "50%"})])
    parsed = configparser.ConfigParser()
    parsed.read_string(text)
    assert parsed["program:p"]["command"] == r'"/a b/tool" "--say=\"100%\""'
    assert parsed["program:p"]["environment"] == 'K="50%"'
    assert parsed["program:p"]["autorestart"] == "true"


def test_a_program_is_started_restarted_after_a_crash_and_on_new_configuration(
    tmp_path: Path,
) -> None:
    cluster = tmp_path / "cluster"
    folder = cluster / "operators"
    folder.mkdir(parents=True)
    try:
        supervisor.run(folder, cluster, [program("one")])
        assert supervisor.is_running(folder)
        first = child(folder)
        await_log(folder, "one")
        assert oct((folder / "sleeper.log").stat().st_mode & 0o777) == "0o600"

        first.kill()
        psutil.wait_procs([first], timeout=5)
        second = child(folder)
        assert second.pid != first.pid

        supervisor.run(folder, cluster, [program("two")])
        assert not second.is_running()
        await_log(folder, "two")
    finally:
        assert processes.end_all(cluster) >= 1
    assert not supervisor.is_running(folder)


def test_a_supervisor_is_woken_where_a_socket_can_be(tmp_path: Path) -> None:
    text = supervisor.configuration(Path("/tmp/short"), [program("one")])
    assert "[unix_http_server]\nfile = /tmp/short/supervisord.sock" in text
    assert "unix_http_server" not in supervisor.configuration(tmp_path / ("x" * 99), [])


def test_a_supervisor_that_does_not_start_says_why(tmp_path: Path) -> None:
    broken = supervisor.Program("p", ["tool"], {"K": '"'})
    with pytest.raises(LockstepError, match="supervisord does not start"):
        supervisor.run(tmp_path, tmp_path, [broken])


def test_a_stale_pid_file_is_not_a_running_supervisor(tmp_path: Path) -> None:
    assert not supervisor.is_running(tmp_path)
    (tmp_path / "supervisord.pid").write_text(str(os.getpid()))
    assert not supervisor.is_running(tmp_path)
