"""The version matrix: runs the same scenarios on every supported pair of LWS and Volcano."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep import paths, versions
from lockstep.report.matrix import Cell, Matrix, Row
from lockstep.report.receipt import instant

if TYPE_CHECKING:
    from lockstep.walk.demo import Outcome

BEYOND_THE_ARTICLE = ("contention", "recovery")
"""Scenarios that tell most about another version, after those of the article."""


@dataclass(frozen=True)
class Pair:
    """Two versions that must work together."""

    lws: str
    volcano: str

    @property
    def name(self) -> str:
        """Names its folder and, in words, itself."""
        return f"lws-{self.lws}-volcano-{self.volcano}"

    @property
    def stack(self) -> str:
        """The stack that it is tried on: names of clusters have no dots."""
        return f"matrix-{self.lws.replace('.', '-')}"

    @property
    def config(self) -> dict[str, str]:
        """What makes a stack use it."""
        return {"lwsVersion": self.lws, "volcanoVersion": self.volcano}

    @property
    def receipts(self) -> Path:
        """Where its receipts are kept."""
        return home() / "matrix" / self.name / "receipts"


def home() -> Path:
    """Where the matrix is written, beside the receipts of the demo."""
    return paths.project_dir() / "out"


def pairs(lws: Sequence[str] = ()) -> list[Pair]:
    """Every supported pair, or those with some versions of LWS."""
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
    verdict = outcome.verdict or {}
    return Cell(
        step=outcome.step.name,
        expected=outcome.step.expected,
        observed=verdict.get("observed", "nothing"),
        ok=outcome.ok,
        reason=outcome.reason or str(verdict.get("reason") or ""),
        seconds=round(outcome.seconds, 1),
    )
