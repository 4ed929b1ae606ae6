"""The steps of a walk and their outcomes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from lockstep.errors import LockstepError
from lockstep.scenarios.model import Scenario, Step
from lockstep.walk.evidence import Evidence


@dataclass(frozen=True)
class Stage:
    """A step of a scenario, as a part of a walk."""

    scenario: Scenario
    step: Step


def stages(scenarios: Iterable[Scenario]) -> list[Stage]:
    """Return every step of some scenarios, in order."""
    return [Stage(scenario, step) for scenario in scenarios for step in scenario.steps]


class VerdictSummary(msgspec.Struct, frozen=True, rename="camel"):
    """What the terminal shows of a verdict; receipts and stack outputs have more."""

    expected: str
    observed: str
    ok: bool
    reason: str
    bound: int
    size: int
    bind_skew_seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """What a step led to."""

    step: Step
    seconds: float
    verdict: VerdictSummary | None
    """None when the update failed before it could judge."""
    reason: str = ""
    """Why the update failed, or why there is no verdict."""
    evidence: Evidence = field(default_factory=Evidence)
    """What there is to look at when the outcome is not as expected."""

    @property
    def ok(self) -> bool:
        """Whether the update succeeded with the step's expected verdict."""
        return bool(
            not self.reason
            and self.verdict
            and self.verdict.ok
            and self.verdict.observed == self.step.expected
        )

    @property
    def observed(self) -> str:
        """The name of the observed verdict."""
        return self.verdict.observed if self.verdict else "nothing"

    @property
    def explanation(self) -> str:
        """Why the outcome is not as expected, in a line; empty when it is."""
        if self.ok:
            return ""
        if self.verdict and self.verdict.ok and not self.reason:
            return f"expected {self.step.expected}, observed {self.verdict.observed}"
        return self.reason or (self.verdict.reason if self.verdict else "")

    def to_mapping(self) -> dict[str, Any]:
        """Return the outcome for `--json`."""
        return {
            "step": self.step.name,
            "expected": str(self.step.expected),
            "seconds": round(self.seconds, 1),
            "ok": self.ok,
            "reason": self.explanation,
            "verdict": msgspec.to_builtins(self.verdict),
            **self.evidence.to_mapping(),
        }


class ReceiptSummary(msgspec.Struct):
    """The part of a receipt that an outcome needs."""

    scenario: str
    verdict: VerdictSummary


def read_receipt(path: Path) -> ReceiptSummary | None:
    """Return the summary of a receipt; None when there is no such file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=ReceiptSummary)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise LockstepError(f"{path} is not a receipt: {error}; remove it") from error
