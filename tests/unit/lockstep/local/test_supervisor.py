import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep import paths, processes
from lockstep.local import supervise, supervisor
from lockstep.local.supervisor import Program
from lockstep.wait import wait_until

SLEEP = "import sys, time; print(sys.argv[1], flush=True); time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a cluster; its processes are ended."""
    made = tmp_path / "cluster"
    made.mkdir()
    yield made
    supervisor.release(made)
    processes.end_all(made)


def run(folder: Path, text: str) -> psutil.Process:
    supervisor.run(folder, {"sleeper": Program([sys.executable, "-c", SLEEP, text])})
    return process(folder, "sleeper")


def process(folder: Path, name: str) -> psutil.Process:
    def found() -> psutil.Process | None:
        try:
            text = (folder / supervise.PROGRAMS / f"{name}.pid").read_text()
            return psutil.Process(int(text.split()[0]))
        except (OSError, psutil.Error):
            return None

    return wait_until(name, found, 10, pause=0.01)


def supervising(folder: Path) -> psutil.Process:
    return psutil.Process(wait_until("the supervisor", lambda: supervisor.holder(folder), 10))


def await_other(folder: Path, name: str, killed: psutil.Process) -> psutil.Process:
    wait_until(f"another {name}", lambda: process(folder, name).pid != killed.pid, 10, pause=0.01)
    return process(folder, name)


def await_log(folder: Path, text: str) -> None:
    log = paths.program_log(folder, "sleeper")
    wait_until(f"the log {text!r}", lambda: log.exists() and log.read_text() == text, 10)


def test_killed_program_runs_again(folder: Path) -> None:
    first = run(folder, "100% 'a'")
    await_log(folder, "100% 'a'\n")
    first.kill()
    await_other(folder, "sleeper", first)
    await_log(folder, "100% 'a'\n" * 2)


def test_program_is_replaced_when_its_command_changes(folder: Path) -> None:
    first = run(folder, "a")
    second = run(folder, "b")
    assert second.cmdline()[-1] == "b"
    assert not first.is_running()


def test_program_is_restarted_although_its_command_is_the_same(folder: Path) -> None:
    """Its configuration may be another."""
    assert run(folder, "a").pid != run(folder, "a").pid


def test_restarted_program_has_the_same_command(folder: Path) -> None:
    first = run(folder, "a")
    command = first.cmdline()
    supervisor.restart(folder, "sleeper")
    second = process(folder, "sleeper")
    assert second.pid != first.pid
    assert second.cmdline() == command


def test_killed_supervisor_is_replaced_and_its_programs_go_on(folder: Path) -> None:
    program = run(folder, "a")
    standby = process(folder, supervise.STANDBY)
    for _ in range(2):  # the second supervisor was a standby itself
        first = supervising(folder)
        first.kill()
        wait_until("another supervisor", lambda f=first: supervising(folder) != f, 10)  # type: ignore[misc]
        standby = await_other(folder, supervise.STANDBY, standby)
    assert process(folder, "sleeper") == program
    program.kill()
    await_other(folder, "sleeper", program)


def test_killed_standby_runs_again(folder: Path) -> None:
    run(folder, "a")
    standby = process(folder, supervise.STANDBY)
    standby.kill()
    await_other(folder, supervise.STANDBY, standby)


def test_program_that_died_with_the_supervisor_is_started_by_the_next(folder: Path) -> None:
    program, first = run(folder, "a"), supervising(folder)
    first.suspend()
    program.kill()
    first.kill()
    await_other(folder, "sleeper", program)


def test_program_that_cannot_start_does_not_end_the_supervisor(folder: Path) -> None:
    run(folder, "a")
    (folder / supervise.PROGRAMS / "none.json").write_text('{"command": ["/no-such-program"]}')
    os.kill(supervising(folder).pid, signal.SIGHUP)
    log = folder / "supervisor.log"
    wait_until("the error", lambda: "cannot start none" in log.read_text(), 10)
    assert run(folder, "b").is_running()


def test_programs_are_adopted_after_the_end_of_supervisor_and_standby(folder: Path) -> None:
    program = run(folder, "a")
    for process_ in (process(folder, supervise.STANDBY), supervising(folder)):
        process_.suspend()
        process_.kill()
    wait_until("no supervisor", lambda: not supervisor.holder(folder), 10)
    assert supervisor.is_alive(folder, "sleeper")
    supervisor.start(folder)
    assert process(folder, "sleeper") == program
    program.kill()
    await_other(folder, "sleeper", program)


def test_process_that_only_has_the_id_of_a_program_is_not_taken_for_it(folder: Path) -> None:
    run(folder, "a")
    (folder / supervise.PROGRAMS / "sleeper.pid").write_text(f"{os.getpid()} digest")
    assert not supervisor.is_alive(folder, "sleeper")
    assert not supervisor.is_alive(folder, "none")


def test_everything_ends_when_the_lock_file_is_removed(folder: Path) -> None:
    run(folder, "a")
    everything = processes.of_cluster(folder)
    assert len(everything) == 3, "the supervisor, its standby and the program"
    first = supervising(folder)
    supervisor.release(folder)
    os.kill(first.pid, signal.SIGHUP)  # instead of waiting until the supervisor looks by itself
    wait_until("the end of all", lambda: not processes.of_cluster(folder), 10)


def test_no_supervisor_holds_a_folder_that_is_not_there(folder: Path) -> None:
    assert supervisor.holder(folder / "none") is None
    assert supervisor.holder(folder) is None


def test_files_are_the_owners_alone(folder: Path) -> None:
    run(folder, "a")
    await_log(folder, "a\n")
    for file in (paths.program_log(folder, "sleeper"), folder / "supervisor.log"):
        assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert oct((folder / supervise.PROGRAMS).stat().st_mode & 0o777) == "0o700"


def test_programs_get_no_secrets_of_the_users_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    program = run(folder, "a")
    await_log(folder, "a\n")
    environment = program.environ()
    assert "SOME_TOKEN" not in environment
    assert environment[processes.MARK] == str(folder)


def test_log_that_grows_too_large_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / supervise.PROGRAMS).mkdir()
    logs = {name: paths.program_log(tmp_path, name) for name in ("small", "large")}
    logs["small"].write_text("1234")
    logs["large"].write_text("12345")
    monkeypatch.setattr(supervise, "LARGEST_LOG", 4)
    supervise.Supervisor(tmp_path)._limit_logs()
    assert logs["small"].read_text() == "1234"
    assert logs["large"].read_text() == ""
