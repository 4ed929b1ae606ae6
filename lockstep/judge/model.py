"""The documents of the judge, as JSON has them.

The Pulumi program writes an `Expectation`; the judge answers with a `Verdict`, the stack output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec

from lockstep.errors import LockstepError


class Workload(msgspec.Struct, frozen=True):
    """The object whose pods are judged."""

    kind: str
    """LeaderWorkerSet or Deployment."""
    name: str

    @property
    def is_grouped(self) -> bool:
        """Whether it divides its pods into gangs; the pods of another kind are one gang."""
        return self.kind == "LeaderWorkerSet"

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


class Expectation(msgspec.Struct, frozen=True, rename="camel"):
    """What a scenario must show."""

    scenario: str
    verdict: str
    """The verdict that makes the scenario pass; `lockstep.judge.rules.RULES` has all of them."""
    namespace: str
    workload: Workload
    size: Annotated[int, msgspec.Meta(ge=1)]
    """Pods of one gang."""
    groups: Annotated[int, msgspec.Meta(ge=1)] = 1
    """Gangs."""
    requests: dict[str, str] = {}
    """What one pod asks for; a PodGroup must reserve it `size` times. Empty: not checked."""
    gang: bool = True
    """Whether a PodGroup must hold the pods together; if not, there must be no PodGroup."""
    min_member: int | None = None
    """The PodGroup's minMember where it is not the size (LWS sets 1 for LeaderReady)."""
    at_once: int | None = None
    """Gangs that may run at once, by the size of the pool or a queue's cap; None: not judged."""
    queue: str | None = None
    """The Volcano queue that the gangs must be in; None: not judged."""
    rival: Workload | None = None
    """A second set of the same size, of higher priority, that arrives later."""

    @property
    def pods(self) -> int:
        """Pods of all gangs."""
        return self.size * self.groups

    @classmethod
    def from_json(cls, text: str) -> Expectation:
        """Read an expectation as Pulumi hands it over: numbers may come as floats."""
        try:
            return msgspec.json.decode(text, type=cls, strict=False)
        except msgspec.DecodeError as error:
            raise LockstepError(f"the expectation is not valid: {error}") from error

    def to_mapping(self) -> dict[str, Any]:
        """Return the document; fields that are None are left out."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return {key: value for key, value in data.items() if value is not None}


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    """The judgement of a scenario: one value of the stack output `verdicts`."""

    expected: str
    observed: str
    ok: bool
    reason: str
    """One line; for a failed verdict, what `pulumi up` prints."""
    bound: int
    """Pods that are bound."""
    size: int
    """Pods that should be bound."""
    bind_skew_seconds: float | None
    """Last minus first bind of one gang, the longest of all gangs; None when not measured."""
    release_latency_seconds: float | None = None
    """From the removal of the last taint to the last bind; None when not measured."""
    pod_group: dict[str, Any] | None = None
    measures: dict[str, int | float] = {}
    """Figures that only some verdicts have, by name; a unit ends the name, as in `…Seconds`."""
    platform: dict[str, Any] | None = None
    """What the scheduler and LWS reported that they ran."""
    evidence: list[str] = []
    """What the verdict rests on; a receipt has it beside the verdict."""


@dataclass(frozen=True)
class Finding:
    """What a rule observed, and what that rests on."""

    observed: str
    reason: str
    """Why this is not the expected verdict, or what it shows if it is."""
    evidence: tuple[str, ...] = ()
    valid: bool = True
    """False fails the verdict even if `observed` is the expected name."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Figures that this verdict is about, by name: seconds to recover, pods wasted…"""
    bind_skew: float | None = None
    """The longest bind skew where gangs came and went; None: that of the gangs that exist."""


@dataclass(frozen=True)
class RecheckAt:
    """No finding yet: evaluate again at this time, or when something new is observed."""

    at: float
