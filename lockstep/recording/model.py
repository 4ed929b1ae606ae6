"""A recording: everything that the watches of one scenario saw, in memory and as JSON lines.

The recorder writes the file; the judge, the live view and the report read it. The first line is
the `Header`. Each other line is an `Observation` (an object of the cluster changed), a
`WatchStatus` (the watch itself was interrupted) or a `Tick` (the API server has confirmed that the
recording is complete until a time).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from lockstep import paths
from lockstep.errors import LockstepError

Kind = Literal["pod", "podgroup", "event", "node", "workload", "scheduler"]
Change = Literal["ADDED", "MODIFIED", "DELETED"]
WatchState = Literal["cut", "resumed", "relisted"]
UNREACHABLE = "unreachable"
"""The uid of the observation that says why Volcano's scheduler could not be asked."""
GANG_PLUGIN = "gang"
"""The plugin of Volcano that holds gangs together."""


class Header(msgspec.Struct, frozen=True, tag_field="schema", tag="lockstep.dev/recording/v3"):
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
    """The machine's monotonic clock at time zero: a reader on it computes how late it is."""
    run: str = ""
    """Distinguishes this recording from the previous recording of the same name."""
    pid: int = 0
    """The recorder's process, which holds a lock on the file while it runs."""
    watched: tuple[Kind, ...] = ()
    """Kinds that were watched; `podgroup` is missing where Volcano is not installed."""
    missing: Mapping[str, str] = {}
    """Kinds that could not be watched, and why."""
    cluster: str = ""
    """The uid of the namespace `kube-system`, which tells clusters apart; empty: not readable."""


class _Entry(msgspec.Struct, frozen=True, tag_field="entry", tag=str.lower, omit_defaults=True):
    """A line of a recording after its header."""

    at: float
    """Seconds since the start, by the recorder's monotonic clock."""


class Observation(_Entry, frozen=True):
    """One change of one object, at the time when the recorder received it."""

    kind: Kind
    change: Change
    namespace: str
    name: str
    uid: str
    version: str
    """The object's resourceVersion."""
    facts: Mapping[str, Any]
    """The fields of the object that a judge or a reader needs; see `lockstep.recording.facts`."""
    listed: bool = False
    """Seen in a list, or told late by a resumed watch: earlier states may be missing."""
    late: float | None = 0.0
    """The change happened at most so many seconds before `at`; None: before the recording."""

    @property
    def earliest(self) -> float:
        """The earliest time at which the change can have happened."""
        return -math.inf if self.late is None else self.at - self.late


class WatchStatus(_Entry, frozen=True):
    """A change of the watch of one kind, not of the cluster."""

    kind: Kind
    state: WatchState
    detail: str = ""


class Tick(_Entry, frozen=True):
    """The time until which the recording is complete, though nothing may have happened.

    It is the time before the recorder listed every kind once more: whatever these lists had is in
    the recording. So it does not advance while a watch, the API server or the recorder is stalled.
    """


class Mark(msgspec.Struct, frozen=True):
    """A step of a drill, noted by the process that runs the drill and judges its effect."""

    at: float
    """Seconds since the start: the effects of the step come later."""
    topic: str
    """What the drill does, in words that a rule of the judge looks for."""
    text: str = ""
    """Which object it does it to, and other details for a reader."""
    about: str = ""
    """The workload under test, such as `LeaderWorkerSet/gang`."""

    @property
    def message(self) -> str:
        """The topic and the text in one line."""
        return f"{self.topic}: {self.text}" if self.text else self.topic


Entry = Observation | WatchStatus | Tick


@dataclass
class Recording:
    """A header and everything that followed, in the order of receipt."""

    header: Header
    observations: list[Observation] = field(default_factory=list)
    watch_log: list[WatchStatus] = field(default_factory=list)
    """Interruptions of the watches."""
    marks: list[Mark] = field(default_factory=list)
    """Steps of a drill, in the process that runs the drill only: they are not in the file."""
    end: float = 0.0
    """Time until which it is complete: what is not in it did not happen before this time.

    Only ticks advance it: an observation says nothing about what else happened.
    """

    def add(self, entry: Entry) -> None:
        """Append one entry."""
        if isinstance(entry, Observation):
            self.observations.append(entry)
        elif isinstance(entry, WatchStatus):
            self.watch_log.append(entry)
        else:
            self.end = max(self.end, entry.at)

    def mark(self, topic: str, text: str, at: float, about: str = "") -> Mark:
        """Note a step of a drill; `end` stays, as the watches have not told so much yet."""
        noted = Mark(at, topic, text, about)
        self.marks.append(noted)
        return noted

    def of(self, kind: Kind) -> Iterator[Observation]:
        """Observations of one kind."""
        return (seen for seen in self.observations if seen.kind == kind)


_ENCODER = msgspec.json.Encoder()
_HEADER = msgspec.json.Decoder(Header)
_ENTRY: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


def version_number(version: str) -> int:
    """A resourceVersion as a number, which it is in every API server so far."""
    return int(version) if version.isdigit() else 0


def instant(moment: datetime) -> str:
    """Format a time as recordings and receipts do: UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def path_of(cluster: str, scenario: str) -> Path:
    """Where the recording of a scenario on a cluster is kept."""
    return paths.cluster_dir(cluster) / "recordings" / f"{scenario}.jsonl"


def to_line(item: Header | Entry) -> bytes:
    """One JSON line, newline included."""
    return _ENCODER.encode(item) + b"\n"


def read_header(file: IO[bytes]) -> Header:
    """Read the first line, which the recorder writes before the file gets its name."""
    try:
        return _HEADER.decode(file.readline())
    except msgspec.DecodeError as error:
        raise LockstepError(
            "the file is not a recording of this version of Lockstep; record again"
        ) from error


def entry_from_line(line: bytes) -> Entry:
    """Read any other line of a recording."""
    try:
        return _ENTRY.decode(line)
    except msgspec.DecodeError as error:
        raise LockstepError(
            f"the recording has a line that cannot be read ({error}); record again"
        ) from error
