"""The recorder in the background: started, followed, ended, and never left behind."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from lockstep import cli
from lockstep.errors import LockstepError
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recording
from lockstep.recording.client import Live, Subject
from lockstep.recording.model import Header
from lockstep.wait import wait_until
from tests.unit.lockstep.fake_api import POD_GROUPS, FakeApi, serving

LWS = "leaderworkerset.sigs.k8s.io"


@pytest.fixture
def levers(tmp_path: Path) -> Iterator[tuple[FakeApi, Subject]]:
    with serving(tmp_path) as (api, config):
        path = tmp_path / "c1" / "recordings" / "gang.jsonl"
        subject = Subject(path, "gang", "test", "gang", str(config), deadline=60)
        try:
            yield api, subject
        finally:
            recorder_process.stop(path)


def follow(subject: Subject) -> Live:
    live = recorder_process.connect(subject.path)
    assert live is not None
    return live


def wait_for(live: Live, count: int) -> None:
    until = live.now() + 10
    while len(live.recording.observations) < count:
        assert live.now() < until
        live.wait(until)


def test_starts_serves_and_ends(levers: tuple[FakeApi, Subject]) -> None:
    api, subject = levers
    api.put("old")
    started = recorder_process.start(subject)
    live = follow(subject)
    assert started == {"recording": str(subject.path), "run": live.recording.header.run}
    wait_for(live, 1)
    api.put("new")
    wait_for(live, 2)
    second = follow(subject)
    wait_for(second, 2)
    assert second.recording.observations == live.recording.observations
    second.close()
    live.end()
    assert [seen.name for seen in recording.read(subject.path).observations] == ["old", "new"]
    assert live.ended
    assert recorder_process.connect(subject.path) is None
    _gone(live.recording.header.pid)
    assert {path.suffix for path in subject.path.parent.iterdir()} == {".jsonl", ".log"}


def _gone(pid: int) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(10)


def test_only_its_owner_reads_it(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(subject)
    assert stat.S_IMODE(subject.path.parent.stat().st_mode) == 0o700
    for path in subject.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name


def test_time_passes_without_news(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(subject)
    live = follow(subject)
    until = live.now() + 0.2
    live.wait(until)
    assert until <= live.recording.end < until + 2
    live.end()


def test_a_reader_knows_no_more_than_the_recorder(
    levers: tuple[FakeApi, Subject], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recorder that is late must not make a gang look partly bound for longer than it was."""
    api, subject = levers
    recorder_process.start(subject)
    live = follow(subject)
    api.put("a")
    wait_for(live, 1)
    recorder = psutil.Process(live.recording.header.pid)
    recorder.suspend()
    try:
        stalled = live.now()
        monkeypatch.setattr(recorder_process, "GRACE", 0.5)
        live.wait(stalled + 0.5)
        assert live.now() > stalled + 1
        assert live.recording.end < stalled + 0.1
    finally:
        monkeypatch.undo()
        recorder.resume()
    live.wait(stalled + 1)
    assert live.recording.end >= stalled + 1
    live.end()


def test_a_new_start_ends_the_old_recorder(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    first = recorder_process.start(subject)
    old = recording.read(subject.path).header.pid
    second = recorder_process.start(subject)
    _gone(old)
    assert first["run"] != second["run"]
    assert recording.read(subject.path).header.run == second["run"]


def test_stalled_recorder_is_followed_and_not_replaced(levers: tuple[FakeApi, Subject]) -> None:
    """A second recorder would drop everything that the first one saw."""
    api, subject = levers
    api.put("a")
    run = recorder_process.start(subject)["run"]
    recorder = psutil.Process(recording.read(subject.path).header.pid)
    recorder.suspend()
    try:
        live = follow(subject)
        assert live.recording.header.run == run
        wait_for(live, 1)
        assert not live.ended
    finally:
        recorder.resume()
    live.end()


def test_recorder_whose_file_was_replaced_ends(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(subject)
    live = follow(subject)
    subject.path.unlink()
    subject.path.touch()
    wait_until_ended(live)
    live.close()


def test_crashed_recorder_has_ended(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(subject)
    live = follow(subject)
    psutil.Process(live.recording.header.pid).kill()
    wait_until_ended(live)
    live.close()
    assert recorder_process.connect(subject.path) is None


def test_stop_is_harmless_without_a_recorder(levers: tuple[FakeApi, Subject]) -> None:
    """The process id in an old recording may be another program's by now."""
    _, subject = levers
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


def test_ends_by_itself_at_its_deadline(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(replace(subject, deadline=0.2))
    wait_until("the deadline", lambda: not is_recorded(subject), seconds=10)


def is_recorded(subject: Subject) -> bool:
    """Ask without `connect`, which starts the deadline anew."""
    with subject.path.open("rb") as file:
        return recorder_process._is_recorded(file)


def test_deadline_starts_anew_for_a_judge_that_comes_late(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    recorder_process.start(replace(subject, deadline=4.0))
    time.sleep(0.5)
    live = follow(subject)
    late = live.now() + 3.8
    while live.recording.end < late and not live.ended:
        live.wait(late)
    assert live.recording.end >= late
    live.end()


def test_a_recorder_that_cannot_start_says_why(levers: tuple[FakeApi, Subject]) -> None:
    _, subject = levers
    with pytest.raises(LockstepError, match="did not start: there is no kubeconfig"):
        recorder_process.start(replace(subject, kubeconfig="/none"))


def _gang(api: FakeApi, running: bool = True) -> None:
    labels = {f"{LWS}/name": "gang", f"{LWS}/group-index": "0"}
    api.put("gang-0-r1", POD_GROUPS, spec={"minMember": 2, "minResources": {"cpu": "4"}})
    for name in ("gang-0", "gang-0-1"):
        spec = {"nodeName": "w1"} if running else {}
        api.put(name, spec=spec, status={"phase": "Running" if running else "Pending"})
        metadata = api.objects["/api/v1/namespaces/test/pods"][name]["metadata"]
        metadata["labels"] = labels
        metadata["annotations"] = {"scheduling.k8s.io/group-name": "gang-0-r1"}


@pytest.fixture
def judging(
    levers: tuple[FakeApi, Subject], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FakeApi, Subject]:
    """The environment of the judge's command, as the Pulumi program sets it."""
    api, subject = levers
    expectation = {
        "scenario": "gang",
        "verdict": "placed",
        "namespace": "test",
        "workload": {"kind": "LeaderWorkerSet", "name": "gang"},
        "size": 2,
        "requests": {"cpu": "2"},
    }
    for name, value in {
        "LOCKSTEP_STATE": str(tmp_path / "state"),
        "LOCKSTEP_RECEIPTS": str(tmp_path / "receipts"),
        "LOCKSTEP_CLUSTER": "c1",
        "LOCKSTEP_SCENARIO": "gang",
        "LOCKSTEP_NAMESPACE": "test",
        "LOCKSTEP_POOL": "gang",
        "LOCKSTEP_KUBECONFIG": subject.kubeconfig,
        "LOCKSTEP_CONTEXT": "",
        "LOCKSTEP_EXPECTATION": json.dumps(expectation),
        "LOCKSTEP_RECEIPT_CONTEXT": json.dumps({"cluster": {"name": "c1", "provider": "kwok"}}),
    }.items():
        monkeypatch.setenv(name, value)
    return api, replace(subject, path=recording.path_of("c1", "gang"))


def test_judge_follows_the_recorder_that_record_started(
    judging: tuple[FakeApi, Subject], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api, subject = judging
    assert cli.main(["step", "record"]) == 0
    started = json.loads(capsys.readouterr().out)
    assert started["recording"] == str(subject.path)
    _gang(api)
    assert cli.main(["step", "judge"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["observed"], verdict["bound"]) == ("placed", 2)
    assert recorder_process.connect(subject.path) is None
    receipt = json.loads((tmp_path / "receipts" / "gang.json").read_text())
    assert receipt["verdict"]["ok"] is True


def test_judge_records_by_itself_when_nobody_does(
    judging: tuple[FakeApi, Subject], capsys: pytest.CaptureFixture[str]
) -> None:
    api, subject = judging
    _gang(api)
    assert cli.main(["step", "judge"]) == 0
    assert json.loads(capsys.readouterr().out)["bindSkewSeconds"] is None
    assert recorder_process.connect(subject.path) is None


def test_judge_fails_with_the_reason_at_its_deadline(
    judging: tuple[FakeApi, Subject],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LOCKSTEP_PATIENCE", "0.5")
    api, _ = judging
    _gang(api, running=False)
    before = time.monotonic()
    assert cli.main(["step", "judge"]) == 1
    assert time.monotonic() - before < 10
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("gang: expected placed, observed ignored: 0 of 2 pods bound")
    assert err.count("\n") == 1
    receipt = json.loads((tmp_path / "receipts" / "gang.json").read_text())
    assert receipt["verdict"]["ok"] is False


def test_record_stop_ends_the_recorder(judging: tuple[FakeApi, Subject]) -> None:
    _, subject = judging
    cli.main(["step", "record"])
    assert cli.main(["step", "record", "--stop"]) == 0
    assert cli.main(["step", "record", "--stop"]) == 0
    assert recorder_process.connect(subject.path) is None


@pytest.mark.parametrize("name", ["LOCKSTEP_NAMESPACE", "LOCKSTEP_CLUSTER"])
def test_record_says_what_is_not_given(
    judging: tuple[FakeApi, Subject],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    monkeypatch.delenv(name)
    assert cli.main(["step", "record"]) == 2
    assert f"{name} is not set" in capsys.readouterr().err


def test_judge_refuses_an_expectation_that_is_not_json(
    judging: tuple[FakeApi, Subject],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LOCKSTEP_EXPECTATION", "no")
    assert cli.main(["step", "judge"]) == 2
    assert "not JSON" in capsys.readouterr().err


def test_remove_takes_the_recording_and_empty_folders_along(tmp_path: Path) -> None:
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
