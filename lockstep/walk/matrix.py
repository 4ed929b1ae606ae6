"""The version matrix: runs the same scenarios on every supported pair of LWS and Volcano."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from lockstep import versions
from lockstep.recording.model import instant
from lockstep.report.matrix import Cell, Matrix, Row
from lockstep.walk.demo import out_dir
from lockstep.walk.outcome import Outcome


@dataclass(frozen=True)
class Pair:
    """A version of LWS and a version of Volcano that must work together."""

    lws: str
    volcano: str

    @property
    def name(self) -> str:
        """The name of the pair's folder."""
        return f"lws-{self.lws}-volcano-{self.volcano}"

    @property
    def stack(self) -> str:
        """The stack on which the pair is tried; a cluster's name has no dots."""
        return f"matrix-{self.lws.replace('.', '-')}"

    @property
    def config(self) -> dict[str, str]:
        """The config keys that select the pair."""
        return {"lwsVersion": self.lws, "volcanoVersion": self.volcano}

    @property
    def receipts(self) -> Path:
        """The folder of the pair's receipts."""
        return out_dir() / "matrix" / self.name / "receipts"


def pairs(lws: Sequence[str] = ()) -> list[Pair]:
    """Return every supported pair, or those with the given versions of LWS."""
    chosen = [version for version in versions.LWS_SUPPORTED if not lws or version in lws]
    return [Pair(*both) for both in product(chosen, versions.VOLCANO_SUPPORTED)]


def build(results: Mapping[Pair, Sequence[Outcome]], now: datetime | None = None) -> Matrix:
    """Make the matrix document: a row per pair, a cell per step."""
    return Matrix(
        created_at=instant(now or datetime.now(UTC)),
        kubernetes=versions.KUBERNETES,
        rows=[
            Row(pair.lws, pair.volcano, [_cell(outcome) for outcome in outcomes])
            for pair, outcomes in results.items()
        ],
    )


def _cell(outcome: Outcome) -> Cell:
    return Cell(
        step=outcome.step.name,
        expected=outcome.step.expected,
        observed=outcome.observed,
        ok=outcome.ok,
        reason=outcome.explanation,
        seconds=round(outcome.seconds, 1),
    )
