"""The version matrix in each format of the report."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import msgspec
import pytest

from lockstep import cli
from lockstep.errors import LockstepError
from lockstep.report import html, junit, markdown, matrix, receipt
from lockstep.report.figures import NOTHING
from lockstep.report.matrix import Cell, Matrix, Row
from tests import samples

GOOD = Cell("gang", "placed", "placed", ok=True, reason="", seconds=9.5)
TORN = Cell("gang", "placed", "torn", ok=False, reason="<b> & so", seconds=9.5)
RECOVERY = msgspec.structs.replace(GOOD, step="recovery")


def matrix_with(cell: Cell) -> Matrix:
    return Matrix(
        created_at="2026-03-02T09:15:04.000Z",
        kubernetes="1.34.4",
        rows=[Row("0.7.0", "1.14.1", [GOOD]), Row("0.8.0", "1.14.1", [cell, RECOVERY])],
    )


MATRIX = matrix_with(GOOD)
BROKEN = matrix_with(TORN)


def test_matrix_is_found_beside_the_receipts(tmp_path: Path) -> None:
    assert matrix.beside(tmp_path / "receipts") is None
    path = matrix.write(MATRIX, tmp_path)
    assert json.loads(path.read_text())["schema"] == "lockstep.dev/matrix/v1"
    assert matrix.beside(tmp_path / "receipts") == MATRIX


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"schema": "lockstep.dev/matrix/v0"}'])
def test_file_that_is_no_matrix_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "matrix.json").write_text(text)
    with pytest.raises(LockstepError, match=r"matrix\.json cannot be read as a version matrix"):
        matrix.beside(tmp_path / "receipts")


def test_page_has_a_row_per_pair() -> None:
    text = html.render(samples.demo(), MATRIX)
    section = text.partition('id="versions"')[2].partition("</section>")[0]
    assert section.count('role="rowheader"') == 2
    assert section.count('class="verdict ok"') == 3
    assert f'data-label="recovery">{NOTHING}' in section, "a step that a pair lacks"
    assert "measured 2026-03-02 09:15 UTC by <code>lockstep matrix</code>" in section


def test_page_says_why_a_pair_failed() -> None:
    section = html.render(samples.demo(), BROKEN).partition('id="versions"')[2]
    assert section.count('class="verdict bad"') == 1
    told = "<strong>gang on LWS 0.8.0, Volcano 1.14.1</strong>: &lt;b&gt; &amp; so"
    assert told in section


def test_markdown_has_the_matrix() -> None:
    text = markdown.render(samples.demo(), MATRIX)
    assert "| LWS | Volcano | gang | recovery |\n|---|---|---|---|\n" in text
    assert f"| 0.7.0 | 1.14.1 | ✅ `placed` | {NOTHING} |\n" in text
    assert "| 0.8.0 | 1.14.1 | ✅ `placed` | ✅ `placed` |\n" in text
    assert "Kubernetes 1.34.4, 2026-03-02 09:15 UTC)" in markdown.render(samples.demo(), MATRIX)
    assert "Versions**" not in markdown.render(samples.demo())


def test_junit_has_a_case_per_cell() -> None:
    root = Xml.fromstring(junit.render(samples.demo(), BROKEN))  # noqa: S314 - we wrote it
    receipts, versions = root.findall("testsuite")
    assert (receipts.attrib["tests"], versions.attrib["tests"], root.attrib["tests"]) == (
        "4",
        "3",
        "7",
    )
    assert (versions.attrib["failures"], root.attrib["failures"]) == ("1", "1")
    failed = next(case for case in versions if case.find("failure") is not None)
    assert failed.attrib["classname"] == "lockstep.lws-0.8.0-volcano-1.14.1"
    assert failed.findtext("failure") == "expected placed, observed torn: <b> & so"


def test_report_command_takes_the_matrix_beside_the_receipts(tmp_path: Path) -> None:
    receipt.write(tmp_path / "receipts" / "gang.json", samples.placed())
    matrix.write(MATRIX, tmp_path)
    page = tmp_path / "report.html"
    words = ["report", "--receipts", str(tmp_path / "receipts"), "--output", str(page)]
    assert cli.main(words) == 0
    assert 'id="versions"' in page.read_text()
