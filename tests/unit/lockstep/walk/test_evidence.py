import os
import stat
from pathlib import Path

import pytest

from lockstep import paths
from lockstep.walk import evidence
from lockstep.walk.evidence import Evidence


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A cluster with two recordings, operators and credentials."""
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    folder = paths.cluster_dir("c1")
    for name in (
        "recordings/gang.jsonl",
        "recordings/gang.log",
        "recordings/old.jsonl",
        "programs/lws-manager.log",
        "operators/lws/certificates/tls.key",
        "programs/vc-scheduler.log",
        "operators/volcano/volcano-scheduler.kubeconfig",
        "kubeconfig",
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (folder / "programs" / "empty.log").touch()
    os.utime(folder / "recordings" / "old.jsonl", (1, 1))
    return "c1"


def test_recording_of_an_earlier_update_is_no_evidence(cluster: str) -> None:
    assert [path.name for path in evidence.recordings(cluster, 2)] == ["gang.jsonl"]
    assert evidence.recordings("other", 2) == []


def test_copy_has_the_recording_and_the_logs_and_no_credentials(
    cluster: str, tmp_path: Path
) -> None:
    folder = tmp_path / "out" / "failed" / "gang"
    assert evidence.copy(cluster, "gang", 2, folder) == [folder / "gang.jsonl"]
    names = ["gang.jsonl", "gang.log", "lws-manager.log", "vc-scheduler.log"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert (folder / "gang.jsonl").read_text() == "recordings/gang.jsonl"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_copy_of_nothing_makes_no_folder(cluster: str, tmp_path: Path) -> None:
    assert cluster
    assert evidence.copy("other", "gang", 2, tmp_path / "failed") == []
    assert not (tmp_path / "failed").exists()


def test_rows_are_relative_and_the_mapping_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = Evidence([tmp_path / "gang.json"], [], [tmp_path / "a.log"])
    assert found.rows() == [("receipt", "gang.json"), ("logs", "a.log")]
    assert found.to_mapping() == {
        "receipts": [str(tmp_path / "gang.json")],
        "recordings": [],
        "logs": [str(tmp_path / "a.log")],
    }
