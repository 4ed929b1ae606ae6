"""What `lockstep up` leaves and prints when a verdict fails."""

import json
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lockstep import cli, paths
from lockstep.commands import up
from lockstep.report import receipt
from lockstep.walk.stack import Stack

NAME = "e2e-failed-up"


class Broken(Stack):
    """The stack of a gang without gang scheduling."""

    def write_config(
        self, base: str | None = None, changes: Mapping[str, Any] | None = None
    ) -> None:
        super().write_config(base or "gang", {"gangScheduling": False, **(changes or {})})


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for outputs."""
    monkeypatch.setattr(paths, "out_dir", lambda: tmp_path / "out")
    monkeypatch.setattr(up, "Stack", Broken)
    monkeypatch.setenv("LOCKSTEP_PATIENCE", "20")
    monkeypatch.setenv("LOCKSTEP_RECEIPTS", str(tmp_path / "out" / "receipts"))
    yield tmp_path / "out"
    stack = Broken(NAME)
    stack.write_config()
    stack.down()


def test_failed_up_ends_in_its_reason_and_keeps_all_evidence(
    out: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["up", NAME, "--json"]) == 1
    said, err = capfd.readouterr()
    lines = err[err.index("lockstep: ") :].splitlines()
    reason = "gang: expected placed, observed "
    assert lines[0].startswith(f"lockstep: {NAME} failed: {reason}")
    folder = paths.cluster_dir(f"lockstep-{NAME}")
    recording = folder / "recordings" / "gang.jsonl"
    log = out / f"pulumi-{NAME}.log"
    assert lines[1:] == [
        f"  receipt    {out}/receipts/gang.json",
        f"  recording  {recording}",
        f"  logs       {log}",
        f"             {folder}/programs",
        f"  cluster    kubectl --kubeconfig {folder}/kubeconfig get pods -A",
        f"  again      make up STACK={NAME}  # judges again",
        f"  remove     make down STACK={NAME}",
    ]
    result = json.loads(said)
    assert lines[0] == f"lockstep: {NAME} failed: {result['reason']}"
    assert result["recordings"] == [str(recording)]
    assert recording.is_file()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    # How Pulumi itself prints the failure: a short line, then the reason.
    assert f'error: exit status 1: running "lockstep step judge":\n    {reason}' in log.read_text()

    first = receipt.read(out / "receipts" / "gang.json")
    assert cli.main(["up", NAME]) == 1
    (kept,) = (out / "receipts" / "failed").iterdir()
    assert receipt.read(kept) == first
