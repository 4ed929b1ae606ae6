"""What a scenario's watches saw: one header, then observations, as JSON lines.

The recorder writes it, the judge and the report read it. A line is either the header, an
`Observation` (something of the cluster changed) or a `Mark` (something happened to the watch
itself, so that nobody takes the recorder's own delay for a delay of the cluster).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from lockstep import paths
from lockstep.errors import LockstepError

SCHEMA = "lockstep.dev/recording/v1"

Kind = Literal["pod", "podgroup", "event", "node", "workload"]
Change = Literal["ADDED", "MODIFIED", "DELETED"]
MarkName = Literal["established", "cut", "resumed", "relisted", "ended"]


@dataclass(frozen=True)
class Header:
    """How a recording was made."""

    scenario: str
    """The scenario's name; also the name of the file."""
    namespaces: tuple[str, ...]
    """Namespaces that were watched; empty for all of them."""
    pool: str | None
    """The worker pool whose nodes were watched; None for every node."""
    started: str
    """Wall clock at time zero, ISO 8601 in UTC; every other time is monotonic and relative."""
    clock: float = 0.0
    """The machine's monotonic clock at time zero: it tells a reader on it how late it is."""
    run: str = ""
    """Distinguishes this recording from the one before it under the same name."""
    watched: tuple[Kind, ...] = ()
    """Kinds that were followed; `podgroup` is missing where the cluster has no Volcano."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Kinds that could not be followed, and why."""


@dataclass(frozen=True)
class Observation:
    """One change of one object, as the recorder received it."""

    at: float
    """Seconds since the start, by the recorder's monotonic clock at receipt."""
    kind: Kind
    change: Change
    namespace: str
    name: str
    uid: str
    version: str
    """The object's resourceVersion."""
    facts: Mapping[str, Any]
    """The object, reduced to what a judge or a reader needs; see `lockstep.recording.facts`."""
    listed: bool = False
    """Found by a list, not told by a watch: it was so at `at`, but since when is unknown."""


@dataclass(frozen=True)
class Mark:
    """Something that happened to the watch of one kind, not to the cluster."""

    at: float
    kind: Kind
    mark: MarkName
    detail: str = ""


Entry = Observation | Mark


@dataclass
class Recording:
    """A header and everything that followed, in the order of receipt."""

    header: Header
    observations: list[Observation] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    end: float = 0.0
    """Until when it is complete: what is not in it did not happen before this time."""

    def add(self, entry: Entry | float) -> None:
        """Append one entry, or the time until which there is no other."""
        if isinstance(entry, Observation):
            self.observations.append(entry)
        elif isinstance(entry, Mark):
            self.marks.append(entry)
        self.end = max(self.end, entry if isinstance(entry, float) else entry.at)

    def of(self, kind: Kind) -> Iterator[Observation]:
        """Observations of one kind."""
        return (seen for seen in self.observations if seen.kind == kind)


def path_of(cluster: str, scenario: str) -> Path:
    """Where the recording of a scenario on a cluster is kept."""
    return paths.cluster_dir(cluster) / "recordings" / f"{scenario}.jsonl"


def to_line(item: Header | Entry) -> str:
    """One JSON line, newline included."""
    if isinstance(item, Header):
        return json.dumps({"schema": SCHEMA, **asdict(item)}) + "\n"
    # Not asdict(): it copies the facts deeply, which is most of the recorder's time at 2,000 pods.
    line = dict(item.__dict__)
    if line.get("listed") is False:
        del line["listed"]
    return json.dumps(line, separators=(",", ":")) + "\n"


def tick_line(until: float) -> str:
    """A line for readers of a growing recording: until then it is complete. Not in its file."""
    return json.dumps({"until": until}) + "\n"


def header_from_line(line: str) -> Header:
    """Read the first line of a recording."""
    try:
        data = json.loads(line)
        if data.pop("schema") != SCHEMA:
            raise KeyError("schema")
        return Header(**{**data, **{key: tuple(data[key]) for key in ("namespaces", "watched")}})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LockstepError("this is not a recording of this version; record again") from error


def entry_from_line(line: str) -> Entry | float:
    """Read any other line of a recording; of a growing one, it may be until when it is complete."""
    data = json.loads(line)
    if "until" in data:
        return float(data["until"])
    return Mark(**data) if "mark" in data else Observation(**data)


def from_lines(lines: Iterable[str]) -> Recording:
    """Read a recording; a last line that was cut short by a crash is left out."""
    iterator = iter(lines)
    recording = Recording(header_from_line(next(iterator, "")))
    for line in iterator:
        if line.endswith("\n"):
            recording.add(entry_from_line(line))
    return recording


def read(path: Path) -> Recording:
    """Read the recording in a file."""
    try:
        with path.open(encoding="utf-8") as file:
            return from_lines(file)
    except FileNotFoundError as error:
        raise LockstepError(f"there is no recording {path}; run the scenario first") from error
