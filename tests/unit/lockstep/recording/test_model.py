"""The file format: what is written is what is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.recording import model as recording
from lockstep.recording.model import Header, Mark, Observation, Recording

HEADER = Header(
    scenario="gang",
    namespaces=("lockstep-gang",),
    pool="gang",
    started="2026-01-01T00:00:00.000Z",
    clock=12.5,
    run="abc",
    watched=("pod", "node"),
    missing={"podgroup": "Volcano is not installed"},
)
POD = Observation(1.5, "pod", "ADDED", "ns", "a", "u1", "7", {"node": None})
LATE = Observation(2.5, "pod", "MODIFIED", "ns", "a", "u1", "8", {"node": "w1"}, listed=True)
CUT = Mark(2.0, "pod", "cut", "reset")


def lines() -> list[str]:
    return [recording.to_line(item) for item in (HEADER, POD, CUT, LATE)]


def test_a_recording_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "gang.jsonl"
    path.write_text("".join(lines()))
    assert recording.read(path) == Recording(HEADER, [POD, LATE], [CUT], end=2.5)


def test_each_entry_is_one_json_line() -> None:
    for line in lines():
        assert line.count("\n") == 1
        json.loads(line)


def test_a_last_line_cut_short_by_a_crash_is_left_out() -> None:
    whole = lines()
    whole[-1] = whole[-1][:30]
    assert recording.from_lines(whole).observations == [POD]


def test_only_some_kinds() -> None:
    told = recording.from_lines(lines())
    assert list(told.of("pod")) == [POD, LATE]
    assert list(told.of("node")) == []


@pytest.mark.parametrize("line", ["", "{}", "[]", "nonsense", '{"schema": "other/v1"}'])
def test_another_file_is_refused(line: str) -> None:
    with pytest.raises(LockstepError, match="not a recording"):
        recording.from_lines([line])


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="run the scenario first"):
        recording.read(tmp_path / "none.jsonl")


def test_recordings_are_kept_with_their_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    expected = tmp_path / "clusters" / "c1" / "recordings" / "gang.jsonl"
    assert recording.path_of("c1", "gang") == expected
