"""The file format of a recording: what is written is what is read."""

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.recording import model
from lockstep.recording.client import Live
from lockstep.recording.model import Header, Observation, Recording, Tick, WatchStatus

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
CUT = WatchStatus(2.0, "pod", "cut", "reset")


LINES = b"".join(model.to_line(item) for item in (HEADER, POD, CUT, LATE, Tick(3.0)))


def read(folder: Path, content: bytes) -> Recording:
    """Read a file as a process does that follows it."""
    path = folder / "gang.jsonl"
    path.write_bytes(content)
    with path.open("rb") as file:
        live = Live(path, file)
        live.end()
    return live.recording


def test_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read(tmp_path, LINES) == Recording(HEADER, [POD, LATE], [CUT], end=3.0)


def test_last_line_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, LINES[:-1]) == Recording(HEADER, [POD, LATE], [CUT], end=0.0)


def test_line_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match=r"cannot be read \(.*\); record again"):
        read(tmp_path, LINES + b"nonsense\n")


def test_mark_is_no_news_of_the_cluster() -> None:
    """A drill's own clock must not say until when the watches have told everything."""
    recording = Recording(HEADER, end=1.0)
    mark = recording.mark("evict", "the leader gang-0", 5.0, about="LeaderWorkerSet/gang")
    assert recording.marks == [mark]
    assert mark.message == "evict: the leader gang-0"
    assert recording.end == 1.0


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b"nonsense", b'{"schema": "other/v1"}'])
def test_file_of_another_format_is_refused(line: bytes, tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="not a recording"):
        read(tmp_path, line)
