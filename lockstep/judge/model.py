"""What a scenario expects, what a verdict says, and the limits that decide between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Workload:
    """The object whose pods are judged."""

    kind: str
    """LeaderWorkerSet or Deployment."""
    name: str

    @property
    def is_grouped(self) -> bool:
        """Whether it divides its pods into gangs itself; all pods of another kind are one."""
        return self.kind == "LeaderWorkerSet"

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Workload:
        """Read it as `to_mapping` writes it."""
        return cls(str(data["kind"]), str(data["name"]))

    def to_mapping(self) -> dict[str, str]:
        """Write it as JSON has it."""
        return {"kind": self.kind, "name": self.name}


@dataclass(frozen=True)
class Expectation:
    """What a scenario must show."""

    scenario: str
    verdict: str
    """placed, held, released or partial."""
    namespace: str
    workload: Workload
    size: int
    """Pods of one gang."""
    groups: int = 1
    """Gangs."""
    requests: Mapping[str, str] = field(default_factory=dict)
    """What one pod asks for; a PodGroup must reserve it `size` times. Empty: not checked."""
    gang: bool = True
    """Whether a PodGroup must hold the pods together; if not, there must be none."""
    min_member: int | None = None
    """The PodGroup's minMember where it is not the size (LWS sets 1 for LeaderReady)."""
    at_once: int | None = None
    """Gangs that may run at once, by the pool's room or a queue's cap; None: not judged."""
    queue: str | None = None
    """The Volcano queue that the gangs must be in; None: not judged."""
    rival: Workload | None = None
    """A second set of the same size, of higher priority, that arrives later."""

    @property
    def pods(self) -> int:
        """Pods of all gangs."""
        return self.size * self.groups

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Expectation:
        """Read it as Pulumi hands it over: numbers may come as floats."""
        try:
            rival = data.get("rival")
            return cls(
                scenario=str(data["scenario"]),
                verdict=str(data["verdict"]),
                namespace=str(data["namespace"]),
                workload=Workload.from_mapping(data["workload"]),
                size=int(data["size"]),
                groups=int(data.get("groups", 1)),
                requests={k: str(v) for k, v in (data.get("requests") or {}).items()},
                gang=bool(data.get("gang", True)),
                min_member=_number(data.get("minMember")),
                at_once=_number(data.get("atOnce")),
                queue=data.get("queue"),
                rival=None if rival is None else Workload.from_mapping(rival),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise LockstepError(f"the expectation is not complete: {error!r}") from error

    def to_mapping(self) -> dict[str, Any]:
        """Write it as `from_mapping` reads it."""
        data: dict[str, Any] = {
            "scenario": self.scenario,
            "verdict": self.verdict,
            "namespace": self.namespace,
            "workload": self.workload.to_mapping(),
            "size": self.size,
            "groups": self.groups,
            "requests": dict(self.requests),
            "gang": self.gang,
        }
        optional = {
            "minMember": self.min_member,
            "atOnce": self.at_once,
            "queue": self.queue,
            "rival": self.rival and self.rival.to_mapping(),
        }
        return data | {key: value for key, value in optional.items() if value is not None}


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


@dataclass(frozen=True)
class Limits:
    """Times, in seconds, and counts that separate one verdict from another."""

    burst: float = 2.0
    """The longest that binding one gang may take. Measured with 100 gangs at once: Volcano 0.3 s
    at most, while the default scheduler left gangs partly bound for 16 s in the median."""
    cycles: int = 3
    """Scheduling cycles that must have refused the whole gang before it counts as held."""
    stable: float = 3.0
    """How long a state without counted cycles must last: three of Volcano's periods."""
    settle: float = 1.0
    """Watches of two kinds are not in step: how long to wait for the other one."""
    patience: float = 20.0
    """How long a gang may be held that should have been placed, before it is called held."""


@dataclass(frozen=True)
class Finding:
    """What was observed, and what that rests on."""

    observed: str
    reason: str
    """Why it is not the expected verdict, or what it shows if it is."""
    evidence: tuple[str, ...] = ()
    sound: bool = True
    """False when the state has the expected name but something else about it is wrong."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Figures that this verdict is about, by name: seconds to recover, pods wasted…"""
    bind_skew: float | None = None
    """The longest bind skew where gangs came and went; None: that of the gangs that are there."""


@dataclass(frozen=True)
class Later:
    """Nothing yet; unless something happens first, look again at this time."""

    at: float


@dataclass(frozen=True)
class Verdict:
    """The judgement of a scenario; `to_mapping` is the stack output."""

    expected: str
    observed: str
    ok: bool
    reason: str
    """One line; for a failed verdict, what `up` prints."""
    bound: int
    size: int
    bind_skew: float | None
    """Last minus first bind of one gang, the longest of all gangs; None when not measured."""
    release_latency: float | None
    """From the taint that went to the last bind; None when not measured."""
    pod_group: Mapping[str, Any] | None
    evidence: tuple[str, ...]
    at: float
    """When it was decided, in seconds of the recording."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Figures that only some verdicts have, by name; a unit ends the name, as in `…Seconds`."""

    def to_mapping(self) -> dict[str, Any]:
        """Write it as the stack's `verdicts` output has it."""
        return {
            "expected": self.expected,
            "observed": self.observed,
            "ok": self.ok,
            "reason": self.reason,
            "bound": self.bound,
            "size": self.size,
            "bindSkewSeconds": self.bind_skew,
            "releaseLatencySeconds": self.release_latency,
            "podGroup": None if self.pod_group is None else dict(self.pod_group),
            "measures": dict(self.measures),
            "evidence": list(self.evidence),
        }
