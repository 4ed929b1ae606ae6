"""The recorder in the background: started, followed, ended, and never left behind."""

import contextlib
import os
import resource
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lockstep.errors import LockstepError
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recording
from lockstep.recording.client import Live, Subject
from lockstep.recording.model import Header
from lockstep.wait import wait_until
from tests.unit.lockstep.fake_api import FakeApi, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    with serving(tmp_path) as served:
        yield served


@pytest.fixture
def api(served: tuple[FakeApi, Path]) -> FakeApi:
    return served[0]


@pytest.fixture
def subject(served: tuple[FakeApi, Path], tmp_path: Path) -> Iterator[Subject]:
    path = tmp_path / "c1" / "recordings" / "gang.jsonl"
    yield Subject(path, "gang", "test", "gang", str(served[1]), deadline=60)
    recorder_process.stop(path)


def follow(subject: Subject) -> Live:
    live = recorder_process.connect(subject.path)
    assert live is not None
    return live


def header_of(subject: Subject) -> Header:
    with subject.path.open("rb") as file:
        return recording.read_header(file)


def pods(live: Live) -> list[str]:
    return [seen.name for seen in live.recording.of("pod")]


def wait_for(live: Live, count: int) -> None:
    until = live.now() + 10
    while len(pods(live)) < count:
        assert live.now() < until
        live.wait(until)


def test_recorder_starts_is_followed_and_ends(api: FakeApi, subject: Subject) -> None:
    api.put("old")
    started = recorder_process.start(subject)
    live = follow(subject)
    assert started == {"recording": str(subject.path), "run": live.recording.header.run}
    wait_for(live, 1)
    api.put("new")
    wait_for(live, 2)
    second = follow(subject)
    wait_for(second, 2)
    assert pods(second) == pods(live)
    second.close()
    live.end()
    assert pods(live) == ["old", "new"]
    assert live.ended
    assert recorder_process.connect(subject.path) is None
    _gone(live.recording.header.pid)
    assert {path.suffix for path in subject.path.parent.iterdir()} == {".jsonl", ".log"}


def _gone(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(10)


def test_recording_is_private_to_its_user(subject: Subject) -> None:
    recorder_process.start(subject)
    assert stat.S_IMODE(subject.path.parent.stat().st_mode) == 0o700
    for path in subject.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


def test_stalled_recorder_does_not_advance_the_recording(
    api: FakeApi, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recorder that is late must not make a gang look partly bound for longer than it was."""
    recorder_process.start(subject)
    live = follow(subject)
    api.put("a")
    wait_for(live, 1)
    recorder = psutil.Process(live.recording.header.pid)
    recorder.suspend()
    try:
        stalled = live.now()
        monkeypatch.setattr(recorder_process, "GRACE", 0.5)
        while live.now() < stalled + 1:
            live.wait(stalled + 0.5)
        assert live.recording.end < stalled + 0.1
    finally:
        monkeypatch.undo()
        recorder.resume()
    until_complete(live, stalled + 1)
    live.end()


def until_complete(live: Live, at: float) -> None:
    deadline = live.now() + 10
    while live.recording.end < at:
        assert live.now() < deadline
        live.wait(at)


def test_start_ends_the_earlier_recorder(subject: Subject) -> None:
    first = recorder_process.start(subject)
    old = header_of(subject).pid
    second = recorder_process.start(subject)
    _gone(old)
    assert first["run"] != second["run"]
    assert header_of(subject).run == second["run"]


def test_start_waits_for_its_own_recorder(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that a killed start has left behind may create the file first."""
    spawn = recorder_process._spawn

    def late(asked: Subject) -> subprocess.Popen[bytes]:
        asked.path.write_bytes(recording.to_line(Header("gang", (), None, "", run="old", pid=1)))
        return spawn(asked)

    monkeypatch.setattr(recorder_process, "_spawn", late)
    assert recorder_process.start(subject)["run"] == header_of(subject).run != "old"


def test_stalled_recorder_is_followed_and_not_replaced(api: FakeApi, subject: Subject) -> None:
    """A second recorder would drop everything that the first one saw."""
    api.put("a")
    run = recorder_process.start(subject)["run"]
    recorder = psutil.Process(header_of(subject).pid)
    recorder.suspend()
    try:
        live = follow(subject)
        assert live.recording.header.run == run
        wait_for(live, 1)
        assert not live.ended
    finally:
        recorder.resume()
    live.end()


def test_recorder_whose_file_was_replaced_ends(subject: Subject) -> None:
    recorder_process.start(subject)
    live = follow(subject)
    subject.path.unlink()
    subject.path.touch()
    wait_until_ended(live)
    live.close()


def test_crashed_recorder_has_ended(subject: Subject) -> None:
    recorder_process.start(subject)
    live = follow(subject)
    psutil.Process(live.recording.header.pid).kill()
    wait_until_ended(live)
    live.close()
    assert recorder_process.connect(subject.path) is None


def test_recorder_that_cannot_write_ends(subject: Subject) -> None:
    """It must not go on after a gap in the recording."""
    recorder_process.start(subject)
    live = follow(subject)
    limit = subject.path.stat().st_size + 1
    psutil.Process(live.recording.header.pid).rlimit(resource.RLIMIT_FSIZE, (limit, limit))
    wait_until_ended(live)
    live.close()
    _gone(live.recording.header.pid)
    log = recorder_process.log_file(subject.path).read_text()
    assert log == "lockstep: cannot write the recording: [Errno 27] File too large\n"


def test_stop_is_harmless_without_a_recorder(subject: Subject) -> None:
    """The process id in an old recording may be another program's by now."""
    recorder_process.stop(subject.path)
    subject.path.parent.mkdir(parents=True)
    header = Header("gang", (), None, "", pid=os.getpid())
    subject.path.write_bytes(recording.to_line(header))
    recorder_process.stop(subject.path)


def wait_until_ended(live: Live) -> None:
    until = live.now() + 10
    while not live.ended:
        assert live.now() < until
        live.wait(until)


def test_recorder_ends_at_its_deadline(subject: Subject) -> None:
    recorder_process.start(replace(subject, deadline=0.2))
    wait_until("the deadline", lambda: not is_recorded(subject), seconds=10)


def is_recorded(subject: Subject) -> bool:
    """Ask without `connect`, which starts the deadline anew."""
    with subject.path.open("rb") as file:
        return recorder_process._is_recorded(file)


def test_connect_restarts_the_deadline(subject: Subject) -> None:
    recorder_process.start(replace(subject, deadline=4.0))
    time.sleep(1.0)
    live = follow(subject)
    late = live.now() + 3.2  # after the first deadline, and well before the second
    while live.recording.end < late and not live.ended:
        live.wait(late)
    assert live.recording.end >= late
    live.end()


def test_recorder_that_cannot_start_reports_the_error(subject: Subject) -> None:
    with pytest.raises(LockstepError, match="did not start: there is no kubeconfig"):
        recorder_process.start(replace(subject, kubeconfig="/none"))


def test_remove_deletes_the_recording_and_empty_folders(tmp_path: Path) -> None:
    path = tmp_path / "clusters" / "one" / "recordings" / "gang.jsonl"
    path.parent.mkdir(parents=True)
    other = path.with_name("other.jsonl")
    for file in (path, recorder_process.log_file(path), other):
        file.touch()
    recorder_process.remove(path)
    assert list(path.parent.iterdir()) == [other]
    recorder_process.remove(other)
    assert list((tmp_path / "clusters").iterdir()) == []
    recorder_process.remove(other)
