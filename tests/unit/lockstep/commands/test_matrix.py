import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

import toolchain
from lockstep import cli, paths, versions
from lockstep.commands import matrix
from lockstep.commands.matrix import Pair
from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.scenarios.model import Step
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import demo
from lockstep.walk.outcome import Outcome, Stage, VerdictSummary
from tests import samples
from toolchain import catalogue, making

STEP = SCENARIOS["gang"].steps[0]
PAIR = Pair("0.7.0", "1.14.1")


def outcome(step: Step = STEP, *, ok: bool = True, observed: str = "placed") -> Outcome:
    reason = "" if ok else f"{step.name}: not so"
    verdict = VerdictSummary(step.expected, observed, ok, reason, bound=4, size=4)
    return Outcome(step, 12.34, verdict)


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
    assert matrix.build({PAIR: outcomes}).is_good is good


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
    monkeypatch.setattr(versions, "VOLCANO_SUPPORTED", ("1.14.1",))
    monkeypatch.setattr(paths, "project_dir", lambda: tmp_path)
    return tmp_path / "out"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(toolchain, "ensure", made.extend)
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
        ("matrix-0-7-0-1-14-1", "0.7.0"),
        ("matrix-0-8-0-1-14-1", "0.8.0"),
        ("matrix-0-9-0-1-14-1", "0.9.0"),
    ]
    assert FakeWalk.removed == [name for name, _ in FakeWalk.taken]
    assert {"lws-0.7.0", "lws-0.8.0", "lws-0.9.0"} <= set(made)


def test_command_that_succeeds_adds_to_the_report_of_the_demo(out: Path, made: list[str]) -> None:
    receipt.write(out / "receipts" / "no-gang.json", samples.partial())
    assert cli.main(["matrix", "--lws", "0.8.0"]) == 0
    assert FakeWalk.taken == [("matrix-0-8-0-1-14-1", "0.8.0")]
    assert "lws-0.8.0" in made
    assert "lws-0.7.0" not in made
    page = (out / "report.html").read_text()
    assert 'id="no-gang"' in page
    assert 'id="versions"' in page


def test_every_pair_of_supported_versions_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "LWS_SUPPORTED", ("0.8.0", "0.9.0"))
    monkeypatch.setattr(versions, "VOLCANO_SUPPORTED", ("1.14.1", "1.15.1"))
    every = [Pair(lws, volcano) for lws in ("0.8.0", "0.9.0") for volcano in ("1.14.1", "1.15.1")]
    assert matrix.supported_pairs() == every
    assert matrix.supported_pairs(volcano=["1.15.1"]) == [every[1], every[3]]
    assert matrix.supported_pairs(["0.9.0"], ["1.14.1"]) == [every[2]]


def test_pairs_have_clusters_and_tools_of_their_own(
    out: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "VOLCANO_SUPPORTED", ("1.14.1", "1.15.1"))
    monkeypatch.setattr(catalogue, "groups", lambda: dict.fromkeys(["lws-0.8.0", "volcano-1.14.1"]))
    monkeypatch.setattr(making, "default_groups", lambda: ("kubernetes",))
    cli.main(["matrix", "--lws", "0.8.0"])
    names = ["matrix-0-8-0-1-14-1", "matrix-0-8-0-1-15-1"]
    assert FakeWalk.taken == [(name, "0.8.0") for name in names]
    assert made == ["kubernetes", "lws-0.8.0", "volcano-1.14.1"]
    made.clear()
    cli.main(["matrix", "--lws", "0.8.0", "--volcano", "1.15.1"])
    assert made == ["kubernetes", "lws-0.8.0"]


def test_docs_have_the_table_of_the_last_result(
    out: Path, made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "checkout_dir", lambda: tmp_path)
    page = tmp_path / "README.md"
    page.write_text(f"# Versions\n\n{matrix.BEGIN}\nold\n{matrix.END}\n\n## After\n")
    cli.main(["matrix", "--lws", "0.8.0", "--lws", "0.9.0"])
    assert "old" in page.read_text()
    cli.main(["matrix", "--lws", "0.8.0", "--lws", "0.9.0", "--docs"])
    before, table, after = re.split(f"{matrix.BEGIN}|{matrix.END}", page.read_text())
    assert (before, after) == ("# Versions\n\n", "\n\n## After\n")
    rows = [line for line in table.splitlines() if line.startswith("| 0.")]
    assert rows[0].startswith("| 0.8.0 | 1.14.1 | ✅ `placed` | ✅ `held` |")
    assert rows[1].startswith("| 0.9.0 | 1.14.1 | ❌ `")
    assert "- **gang on LWS 0.9.0, Volcano 1.14.1**: `no such manager`" in table
    page.write_text("# Versions\n")
    with pytest.raises(LockstepError, match="has no table between"):
        matrix.write_docs(matrix.build({PAIR: [outcome()]}), page)


def test_command_without_any_receipt_writes_no_report(
    out: Path, made: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert made == []
    assert cli.main(["matrix", "--lws", "0.9.0"]) == 1
    assert not (out / "report.html").exists()
    assert "there is no receipt" in capsys.readouterr().out


def test_table_hides_nothing_on_a_narrow_screen() -> None:
    console = Console(file=io.StringIO(), width=70)
    outcomes = [outcome(stage.step, observed=stage.step.expected) for stage in matrix.columns()]
    matrix.show(console, matrix.build({PAIR: outcomes}))
    assert isinstance(console.file, io.StringIO)
    assert "…" not in console.file.getvalue()
