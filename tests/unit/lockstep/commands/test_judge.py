"""The steps `record` and `judge`, as the Pulumi program runs them, against a fake API."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep import cli
from lockstep.commands import judge
from lockstep.drills import DrillContext, renewal
from lockstep.errors import LockstepError
from lockstep.judge.model import Verdict
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recording
from tests.unit.lockstep.fake_api import EVENTS, METRICS, POD_GROUPS, PODS, FakeApi, serving

LWS = "leaderworkerset.sigs.k8s.io"


def _gang(api: FakeApi, running: bool = True) -> None:
    """What LWS and Volcano make of a set with two pods."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "gang-0", "controller": True}
    for index, name in enumerate(("gang-0", "gang-0-1")):
        labels = {
            f"{LWS}/name": "gang",
            f"{LWS}/group-index": "0",
            f"{LWS}/worker-index": f"{index}",
        }
        name_of_set = ("gang", "gang-0")[index]
        sets = [{**owner, "kind": "StatefulSet", "name": name_of_set, "uid": name_of_set}]
        metadata = {
            "labels": labels,
            "ownerReferences": sets,
            "annotations": {"scheduling.k8s.io/group-name": "gang-0-r1"},
        }
        pod: dict[str, Any] = {"extra": metadata, "spec": {"schedulerName": "volcano"}}
        api.put(name, PODS, **pod)
        uid = api.objects[PODS][name]["metadata"]["uid"]
        if index == 0:
            spec = {"minMember": 2, "minResources": {"cpu": "4"}}
            api.put(
                "gang-0-r1",
                POD_GROUPS,
                extra={"ownerReferences": [{**owner, "uid": uid}]},
                spec=spec,
            )
        if running:
            api.put(
                name,
                **{
                    **pod,
                    "spec": {"schedulerName": "volcano", "nodeName": "w1"},
                    "status": {"phase": "Running"},
                },
            )
            about = {"kind": "Pod", "name": name, "uid": uid}
            api.put(
                uid, EVENTS, reason="Scheduled", reportingComponent="volcano", involvedObject=about
            )


@pytest.fixture
def judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeApi, Path]]:
    """The environment of the judge's command, as the Pulumi program sets it, and the recording."""
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
        "LOCKSTEP_CONTEXT": "",
        "LOCKSTEP_EXPECTATION": json.dumps(expectation),
        "LOCKSTEP_RECEIPT_CONTEXT": json.dumps({"cluster": {"name": "c1", "provider": "kwok"}}),
    }.items():
        monkeypatch.setenv(name, value)
    path = recording.path_of("c1", "gang")
    conf = tmp_path / "volcano-scheduler.conf"
    conf.write_text("actions: allocate\ntiers: [{plugins: [{name: gang}]}]\n")
    monkeypatch.setenv("LOCKSTEP_SCHEDULER_CONF", str(conf))
    with serving(tmp_path) as (api, config):
        monkeypatch.setenv("LOCKSTEP_KUBECONFIG", str(config))
        server = yaml.safe_load(config.read_text())["clusters"][0]["cluster"]["server"]
        monkeypatch.setenv("LOCKSTEP_SCHEDULER_METRICS", server + METRICS)
        try:
            yield api, path
        finally:
            recorder_process.stop(path)


@pytest.fixture(autouse=True)
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes on the workload, in order; "" is the removal of the note."""
    made: list[str] = []
    monkeypatch.setattr(renewal, "failed_verdict", lambda _: made[-1] if made else "")
    monkeypatch.setattr(renewal, "keep_failure", lambda _, reason: made.append(reason))
    return made


def test_judge_follows_the_recorder_that_record_started(
    judging: tuple[FakeApi, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    api, path = judging
    assert cli.main(["step", "record"]) == 0
    started = json.loads(capsys.readouterr().out)
    assert started["recording"] == str(path)
    _gang(api)
    assert cli.main(["step", "judge"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["observed"], verdict["bound"]) == ("placed", 2)
    assert recorder_process.connect(path) is None
    receipt = json.loads((tmp_path / "receipts" / "gang.json").read_text())
    assert receipt["verdict"]["ok"] is True


def test_judge_without_a_recorder_has_the_pods_recreated(
    judging: tuple[FakeApi, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pods that are older than the recording prove nothing; new ones do."""
    api, path = judging
    _gang(api)

    def recreate(leader: str) -> None:
        assert leader == "gang-0"
        for name in ("gang-0", "gang-0-1"):
            api.delete(name)
        api.delete("gang-0-r1", POD_GROUPS)
        _gang(api)

    api.on_delete = recreate
    assert cli.main(["step", "judge"]) == 0
    assert json.loads(capsys.readouterr().out)["bindSkewSeconds"] is not None
    assert recorder_process.connect(path) is None
    events = json.loads((tmp_path / "receipts" / "gang.json").read_text())["timeline"]["events"]
    assert any("recreated for a new proof" in event["message"] for event in events)


def test_judge_fails_with_the_reason_at_its_deadline(
    judging: tuple[FakeApi, Path],
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


def test_a_good_verdict_removes_the_note_last(
    judging: tuple[FakeApi, Path],
    tmp_path: Path,
    notes: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api, _ = judging
    assert cli.main(["step", "record"]) == 0
    _gang(api)
    attempt = judge._attempt
    receipt = tmp_path / "receipts" / "gang.json"

    def look(context: DrillContext, drill: str | None) -> Verdict:
        assert notes == [renewal.UNFINISHED]
        return attempt(context, drill)

    def keep(_: DrillContext, reason: str) -> None:
        assert receipt.exists() is (reason == "")
        notes.append(reason)

    monkeypatch.setattr(judge, "_attempt", look)
    monkeypatch.setattr(renewal, "keep_failure", keep)
    assert cli.main(["step", "judge"]) == 0
    assert notes == [renewal.UNFINISHED, ""]
    assert capsys.readouterr().err == ""


def test_pods_of_an_interrupted_judge_are_not_judged_again(
    judging: tuple[FakeApi, Path],
    notes: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api, _ = judging
    _gang(api)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(judge, "_attempt", interrupt)
        assert cli.main(["step", "judge"]) == cli.EXIT_INTERRUPTED
    assert notes == [renewal.UNFINISHED]
    deleted: list[str] = []
    api.on_delete = deleted.append
    monkeypatch.setenv("LOCKSTEP_PATIENCE", "0.5")
    assert cli.main(["step", "judge"]) == 1
    assert deleted
    assert notes[-1] in capsys.readouterr().err

    expectation = json.loads(os.environ["LOCKSTEP_EXPECTATION"]) | {"verdict": "released"}
    monkeypatch.setenv("LOCKSTEP_EXPECTATION", json.dumps(expectation))
    known = list(notes)
    assert cli.main(["step", "judge"]) == 1
    assert f"the last verdict on these pods failed ({known[-1]})" in capsys.readouterr().err
    assert notes == known


def test_nothing_is_judged_without_the_note_and_the_recorder_goes_on(
    judging: tuple[FakeApi, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, path = judging

    def refuse(*_: Any) -> None:
        raise OSError("patch is\nrefused")

    with monkeypatch.context() as patch:
        patch.setattr(renewal, "keep_failure", refuse)
        assert cli.main(["step", "judge"]) == 1
    err = capsys.readouterr().err
    assert "observed unproven: the judge failed: patch is refused\n" in err
    assert err.count("\n") == 1
    receipt = json.loads((tmp_path / "receipts" / "gang.json").read_text())
    assert receipt["verdict"]["observed"] == "unproven"
    live = recorder_process.connect(path)
    assert live is not None
    live.close()


def test_an_error_while_judging_leaves_a_receipt_and_the_note(
    judging: tuple[FakeApi, Path],
    tmp_path: Path,
    notes: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, path = judging

    def fail(*_: Any) -> None:
        raise LockstepError("the recording is cut")

    monkeypatch.setattr(judge, "_attempt", fail)
    assert cli.main(["step", "judge"]) == 1
    assert capsys.readouterr().err.endswith("the judge failed: the recording is cut\n")
    receipt = json.loads((tmp_path / "receipts" / "gang.json").read_text())
    assert receipt["verdict"]["ok"] is False
    assert notes == [renewal.UNFINISHED]
    assert recorder_process.connect(path) is None


def test_recording_of_another_pool_is_not_judged(
    judging: tuple[FakeApi, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Another stack with the same clusterName made it, and goes on with it."""
    assert cli.main(["step", "record"]) == 0
    monkeypatch.setenv("LOCKSTEP_POOL", "other")
    assert cli.main(["step", "judge"]) == 2
    assert "the recording is of the pool gang, not other" in capsys.readouterr().err
    live = recorder_process.connect(judging[1])
    assert live is not None
    live.close()
