"""The version matrix document (`matrix.json`): the verdicts on each supported pair of versions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from lockstep.errors import LockstepError

FILE = "matrix.json"
SCHEMA: Literal["lockstep.dev/matrix/v1"] = "lockstep.dev/matrix/v1"


class Cell(msgspec.Struct, frozen=True):
    """The verdict of one step on one pair of versions."""

    step: str
    expected: str
    observed: str
    ok: bool
    reason: str
    seconds: float


class Row(msgspec.Struct, frozen=True):
    """One pair of versions with a cell for each step that ran on it."""

    lws: str
    volcano: str
    cells: list[Cell]

    def cell(self, step: str) -> Cell | None:
        """The cell of a step, or None when the step did not run on this pair."""
        return next((cell for cell in self.cells if cell.step == step), None)


class Matrix(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The content of `matrix.json`."""

    schema: Literal["lockstep.dev/matrix/v1"] = SCHEMA
    created_at: str
    kubernetes: str
    rows: list[Row]

    @property
    def is_good(self) -> bool:
        """Whether the matrix has cells and every verdict is as expected."""
        cells = [cell for row in self.rows for cell in row.cells]
        return bool(cells) and all(cell.ok for cell in cells)

    @property
    def steps(self) -> list[str]:
        """The names of the columns: every step that a row has, in order."""
        return list(dict.fromkeys(cell.step for row in self.rows for cell in row.cells))

    def failures(self) -> Iterator[tuple[str, str]]:
        """Each verdict that is not as expected: the step with its versions, and the reason."""
        for row in self.rows:
            for cell in row.cells:
                if not cell.ok:
                    where = f"{cell.step} on LWS {row.lws}, Volcano {row.volcano}"
                    yield where, cell.reason or "not as expected"


def write(matrix: Matrix, folder: Path) -> Path:
    """Write `matrix.json` into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_bytes(msgspec.json.format(msgspec.json.encode(matrix), indent=2) + b"\n")
    return path


def beside(receipts: Path) -> Matrix | None:
    """Read the matrix next to a folder of receipts; None when there is no `matrix.json`."""
    path = receipts.absolute().parent / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Matrix)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise LockstepError(
            f"{path} cannot be read as a version matrix ({error}); "
            "remove it or run `lockstep matrix` again"
        ) from error
