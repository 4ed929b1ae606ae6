from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

import toolchain
from lockstep import cli, paths, versions
from lockstep.commands import matrix as command
from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.report.matrix import Cell
from lockstep.scenarios.model import Step
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import demo, matrix
from lockstep.walk.matrix import Pair
from lockstep.walk.outcome import Outcome, Stage, VerdictSummary
from tests import samples

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
STEP = SCENARIOS["gang"].steps[0]
OLD, NEW = Pair("0.7.0", "1.14.1"), Pair("0.8.0", "1.14.1")


def outcome(step: Step = STEP, *, ok: bool = True, observed: str = "placed") -> Outcome:
    reason = "" if ok else f"{step.name}: not so"
    verdict = VerdictSummary(step.expected, observed, ok, reason, bound=4, size=4)
    return Outcome(step, 12.34, verdict)


def test_pairs_are_all_that_is_supported() -> None:
    assert [pair.lws for pair in matrix.pairs()] == list(versions.LWS_SUPPORTED)
    assert {pair.volcano for pair in matrix.pairs()} == set(versions.VOLCANO_SUPPORTED)


def test_pairs_can_be_limited() -> None:
    assert matrix.pairs(["0.8.0"]) == [NEW]


def test_pair_has_a_stack_and_a_folder_of_its_own() -> None:
    assert OLD.stack == "matrix-0-7-0"
    assert OLD.config == {"lwsVersion": "0.7.0", "volcanoVersion": "1.14.1"}
    assert OLD.receipts.parts[-4:] == ("out", "matrix", "lws-0.7.0-volcano-1.14.1", "receipts")
    assert OLD.receipts != NEW.receipts


def test_steps_are_those_of_the_article_then_contention_and_recovery() -> None:
    assert [stage.step.name for stage in command.columns()] == [
        "gang",
        "constrained",
        "constrained-released",
        "no-gang",
        "contention",
        "recovery",
    ]


def test_document_has_a_row_per_pair_and_a_cell_per_step() -> None:
    document = matrix.build({OLD: [outcome()], NEW: [outcome(ok=False, observed="torn")]}, NOW)
    assert document.created_at == "2026-03-02T09:15:00.000Z"
    assert [row.lws for row in document.rows] == ["0.7.0", "0.8.0"]
    assert document.rows[1].cells == [
        Cell("gang", "placed", "torn", ok=False, reason="gang: not so", seconds=12.3)
    ]


@pytest.mark.parametrize(
    ("outcomes", "good"),
    [
        ([outcome()], True),
        ([outcome(), outcome(ok=False)], False),
        ([Outcome(STEP, 1.0, None, "the update failed")], False),
        ([], False),
    ],
)
def test_matrix_is_good_when_all_of_it_is(outcomes: Sequence[Outcome], good: bool) -> None:
    assert matrix.build({OLD: outcomes}, NOW).is_good is good


class FakeWalk:
    """Walks without a cluster: 0.7.0 fails and is not removed, 0.9.0 does not start."""

    taken: ClassVar[list[tuple[str, str]]] = []
    removed: ClassVar[list[str]] = []

    def __init__(self, base: str, console: Console, **options: Any) -> None:
        assert base == "gang"
        self.options, self.console = options, console

    def run(self, stages: Sequence[Stage]) -> list[Outcome]:
        version = self.options["config"]["lwsVersion"]
        self.taken.append((self.options["name"], version))
        if version == "0.9.0":
            raise LockstepError("no such manager")
        folder = self.options["receipts"]
        receipt.write(folder / "gang.json", samples.placed())
        steps = [stage.step for stage in stages]
        return [outcome(step, ok=version != "0.7.0", observed=step.expected) for step in steps]

    def remove(self) -> None:
        self.removed.append(self.options["name"])
        if self.options["config"]["lwsVersion"] == "0.7.0":
            raise LockstepError("a process does not end")


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    FakeWalk.taken, FakeWalk.removed = [], []
    monkeypatch.setattr(demo, "Walk", FakeWalk)
    monkeypatch.setattr(paths, "project_dir", lambda: tmp_path)
    return tmp_path / "out"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(toolchain, "ensure", made.extend)
    monkeypatch.setattr(toolchain, "link_charts", lambda _: None)
    return made


def test_command_tries_every_pair_and_cleans_up_after_each(
    out: Path, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["matrix", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((out / "matrix.json").read_text())
    assert [row["lws"] for row in document["rows"]] == ["0.7.0", "0.8.0", "0.9.0"]
    assert [all(cell["ok"] for cell in row["cells"]) for row in document["rows"]] == [
        False,
        True,
        False,
    ]
    assert {cell["reason"] for cell in document["rows"][2]["cells"]} == {"no such manager"}
    assert FakeWalk.taken == [
        ("matrix-0-7-0", "0.7.0"),
        ("matrix-0-8-0", "0.8.0"),
        ("matrix-0-9-0", "0.9.0"),
    ]
    assert FakeWalk.removed == ["matrix-0-7-0", "matrix-0-8-0", "matrix-0-9-0"]
    assert {"lws-0.7.0", "lws-0.8.0", "lws-0.9.0"} <= set(made)


def test_command_succeeds_when_all_is_as_expected(out: Path, made: list[str]) -> None:
    assert cli.main(["matrix", "--lws", "0.8.0"]) == 0
    assert FakeWalk.taken == [("matrix-0-8-0", "0.8.0")]
    assert not {"lws-0.7.0", "lws-0.9.0"} & set(made)
    assert 'id="versions"' in (out / "report.html").read_text()


def test_command_adds_to_the_report_of_the_demo(out: Path, made: list[str]) -> None:
    assert made == []
    receipt.write(out / "receipts" / "no-gang.json", samples.partial())
    cli.main(["matrix", "--lws", "0.8.0"])
    page = (out / "report.html").read_text()
    assert 'id="no-gang"' in page
    assert 'id="versions"' in page


def test_command_without_any_receipt_writes_no_report(
    out: Path, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert made == []
    assert cli.main(["matrix", "--lws", "0.9.0"]) == 1
    assert not (out / "report.html").exists()
    assert "there is no receipt" in capsys.readouterr().out


def test_table_marks_what_is_not_as_expected() -> None:
    console = Console(file=io.StringIO(), width=120)
    command.show(console, matrix.build({OLD: [outcome()], NEW: [outcome(ok=False)]}, NOW))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert [line.count("✗") for line in lines if "1.14.1" in line] == [0, 1]


def test_table_hides_nothing_on_a_narrow_screen() -> None:
    console = Console(file=io.StringIO(), width=70)
    outcomes = [outcome(stage.step, observed=stage.step.expected) for stage in command.columns()]
    command.show(console, matrix.build({OLD: outcomes}, NOW))
    assert isinstance(console.file, io.StringIO)
    assert "…" not in console.file.getvalue()
