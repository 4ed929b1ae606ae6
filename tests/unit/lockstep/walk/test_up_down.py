"""`lockstep up` and `lockstep down` on the terminal, with a pretended backend."""

import json
import os
from pathlib import Path

import pytest

import toolchain
from lockstep import cli
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


def test_failed_up_ends_in_its_reason(
    backend: FakeBackend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    backend.stacks["gang"] = 0
    backend.failures["up"] = failure("")
    backend.events = [error_event("exit status 1: x\ngang: expected placed, observed torn\n")]
    old = tmp_path / "receipts" / "old.json"
    old.parent.mkdir()
    old.write_text("{}")
    os.utime(old, (1, 1))
    (tmp_path / "receipts" / "gang.json").write_text(json.dumps({"verdict": FAILED}))
    future = 2**31
    os.utime(tmp_path / "receipts" / "gang.json", (future, future))
    assert cli.main(["up", "gang"]) == 1
    out, err = capsys.readouterr()
    assert "gang: torn, 4 of 4 pods bound, bind skew 0.012 s, FAILED\n" in out
    assert "make down" not in out
    reason = "lockstep: the update of gang failed: gang: expected placed, observed torn\n"
    assert err == reason


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
