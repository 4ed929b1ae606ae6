"""The version matrix: what the same scenarios showed on every supported pair of LWS and Volcano."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import paths, versions
from lockstep.errors import LockstepError
from lockstep.report.receipt import instant

if TYPE_CHECKING:
    from lockstep.walk.demo import Outcome

SCHEMA = "lockstep.dev/matrix/v1"
FILE = "matrix.json"
BEYOND_THE_ARTICLE = ("contention", "recovery")
"""Scenarios that tell most about another version, after those of the article."""

Matrix = Mapping[str, Any]


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
    """Make the document: a row per pair, a cell per step."""
    return {
        "schema": SCHEMA,
        "createdAt": instant(now or datetime.now(UTC)),
        "kubernetes": versions.KUBERNETES,
        "rows": [
            {
                "lws": pair.lws,
                "volcano": pair.volcano,
                "cells": [_cell(outcome) for outcome in outcomes],
            }
            for pair, outcomes in results.items()
        ],
    }


def _cell(outcome: Outcome) -> dict[str, Any]:
    verdict = outcome.verdict or {}
    return {
        "step": outcome.step.name,
        "expected": outcome.step.expected,
        "observed": verdict.get("observed", "nothing"),
        "ok": outcome.ok,
        "reason": outcome.reason or str(verdict.get("reason") or ""),
        "seconds": round(outcome.seconds, 1),
    }


def is_good(matrix: Matrix) -> bool:
    """Whether there is something, and every verdict is as expected."""
    cells = [cell for row in matrix["rows"] for cell in row["cells"]]
    return bool(cells) and all(cell["ok"] for cell in cells)


def steps(matrix: Matrix) -> list[str]:
    """The columns: every step that a row has, in order."""
    return list(dict.fromkeys(cell["step"] for row in matrix["rows"] for cell in row["cells"]))


def write(matrix: Matrix, folder: Path) -> Path:
    """Write it to a folder, where the report looks for it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(json.dumps(matrix, indent=2) + "\n", encoding="utf-8")
    return path


def beside(receipts: Path) -> Matrix | None:
    """Read the matrix that lies beside a folder of receipts; None when there is none."""
    path = receipts.absolute().parent / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LockstepError(f"{path} cannot be read ({error}); remove it or run again") from error
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise LockstepError(f"{path} is not a matrix of this Lockstep; remove it or run again")
    return found
