"""`lockstep up` and `lockstep down` on the terminal, with a pretended backend."""

import json
import os
from pathlib import Path

import pytest

import toolchain
from lockstep import cli, paths
from tests.unit.lockstep.walk.fakes import FakeBackend, error_event, failure, step_event

VERDICT = {
    "expected": "placed",
    "observed": "placed",
    "ok": True,
    "reason": "4 of 4 pods bound and running",
    "bound": 4,
    "size": 4,
    "bindSkewSeconds": 0.012,
    "evidence": ["a long story"],
}
FAILED = {**VERDICT, "observed": "torn", "ok": False, "reason": "gang: expected placed"}


@pytest.fixture(autouse=True)
def _tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "ensure", lambda _: None)
    monkeypatch.setenv("LOCKSTEP_RECEIPTS", str(tmp_path / "receipts"))
    monkeypatch.setattr(paths, "out_dir", lambda: tmp_path / "out")


def test_up_ends_in_the_verdict_and_where_to_look_next(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {"verdicts": {"gang": VERDICT}, "kubeconfig": "[secret]"}
    stack = {"type": "pulumi:pulumi:Stack", "outputs": outputs}
    backend.events = [step_event("resOutputsEvent", "create", "lockstep-gang", **stack)]
    assert cli.main(["up", "gang"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "gang: placed, 4 of 4 pods bound, bind skew 0.012 s, ok\n" in out
    assert "a long story" not in out
    assert "make down STACK=gang" in out.splitlines()[-1]
    assert cli.main(["up", "gang", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["ok"], result["verdicts"]["gang"]["observed"]) == (True, "placed")


@pytest.fixture
def failed(backend: FakeBackend, tmp_path: Path) -> Path:
    """An update whose verdict of the gang fails; the receipts and recordings of three scenarios.

    One of them is of an earlier update, and one has its expected verdict. The result is the folder
    of the recordings.
    """
    backend.stacks["gang"] = 0
    backend.failures["up"] = failure("")
    backend.events = [error_event("exit status 1: x\ngang: expected placed, observed torn\n")]
    cluster = tmp_path / "state" / "clusters" / "lockstep-gang"
    (cluster / "programs").mkdir(parents=True)
    future = 2**31
    for name, verdict, time in (
        ("old", FAILED, 1),
        ("ok", VERDICT, future),
        ("gang", FAILED, future),
    ):
        receipt, recording = (
            tmp_path / "receipts" / f"{name}.json",
            cluster / f"recordings/{name}.jsonl",
        )
        for file in (receipt, recording):
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps({"scenario": name, "verdict": verdict}))
            os.utime(file, (time, time))
    return cluster / "recordings"


def test_failed_up_ends_in_its_reason_where_to_look_and_what_to_do(
    failed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(failed.parents[3])
    assert cli.main(["up", "gang"]) == 1
    out, err = capsys.readouterr()
    assert "gang: torn, 4 of 4 pods bound, bind skew 0.012 s, FAILED\n" in out
    assert "make down" not in out
    assert err.splitlines() == [
        "lockstep: gang failed: gang: expected placed, observed torn",
        "  receipt    receipts/gang.json",
        "  recording  state/clusters/lockstep-gang/recordings/gang.jsonl",
        "  logs       out/pulumi-gang.log",
        "             state/clusters/lockstep-gang/programs",
        "  again      make up STACK=gang  # judges again",
        "  remove     make down STACK=gang",
    ]


def test_failed_up_as_json_names_the_evidence(
    failed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["up", "gang", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["reason"] == "gang: expected placed, observed torn"
    assert result["receipts"] == [str(tmp_path / "receipts" / "gang.json")]
    assert result["recordings"] == [str(failed / "gang.jsonl")]
    assert result["logs"] == [
        str(tmp_path / "out" / "pulumi-gang.log"),
        str(failed.parent / "programs"),
    ]


def test_up_without_a_verdict_does_not_promise_new_pods(
    failed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "receipts" / "gang.json").unlink()
    assert cli.main(["up", "gang"]) == 1
    err = capsys.readouterr().err
    assert "receipt" not in err
    assert str(failed / "gang.jsonl") in err
    assert "  again      make up STACK=gang\n" in err


@pytest.mark.usefixtures("failed")
def test_interrupted_up_ends_in_where_to_look(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    backend.failures["up"] = KeyboardInterrupt()
    assert cli.main(["up", "gang"]) == cli.EXIT_INTERRUPTED
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "lockstep: interrupted"
    assert err[-1] == "  remove     make down STACK=gang"
    assert any("out/pulumi-gang.log" in line for line in err)


@pytest.mark.parametrize(
    ("stacks", "said"),
    [
        ({"gang": 3}, "removed the stack gang: 3 resources"),
        ({}, "the stack gang does not exist; nothing was left to remove"),
    ],
)
@pytest.mark.usefixtures("deleted")
def test_down_says_what_it_removed_and_leaves_no_config(
    backend: FakeBackend,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    stacks: dict[str, int],
    said: str,
) -> None:
    backend.stacks = stacks
    assert cli.main(["down", "gang"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == said
    assert not (tmp_path / "state" / "stacks" / "Pulumi.gang.yaml").exists()


@pytest.mark.usefixtures("backend", "deleted")
def test_down_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["down", "gang", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == {"stack": "gang", "existed": False, "resources": 0, "processes": 0}
