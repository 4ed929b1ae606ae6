"""Markdown and JUnit XML, and the command that writes each format."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from lockstep import cli
from lockstep.commands.report import FORMATS, SUFFIXES
from lockstep.report import environment, html, junit, markdown, receipt
from lockstep.report.summary import pairs, summarize
from tests import samples


@pytest.fixture
def receipts(tmp_path: Path) -> Path:
    folder = tmp_path / "receipts"
    for one in samples.demo():
        receipt.write(folder / f"{one.step}.json", one)
    return folder


def test_markdown_has_a_row_per_receipt() -> None:
    text = markdown.render(samples.demo())
    assert text.startswith("## ✅ Yes: every gang was bound as a whole, or not at all.\n")
    assert (
        "| ✅ | constrained-released | `released` | `released` "
        "| 4 of 4 | 226 ms | 717 ms | 5.35 s |" in text
    )
    assert text.count("| ✅ |") == 4
    assert "- `bound: no-gang-deployment-754d5f6c6d-fsdn7, " in text


def test_markdown_failure_comes_first() -> None:
    text = markdown.render([samples.broken(), samples.partial()])
    assert text.startswith("## ❌ No:")
    assert "- **gang**: `3 of 4 pods of gang-0 bound for 6.0 s" in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain", "`plain`"),
        ("two\nlines", "`two lines`"),
        ("a `b` c", "``a `b` c``"),
        ("`", "`` ` ``"),
        ("", "` `"),
        ("@team <b>", "`@team <b>`"),
    ],
)
def test_markdown_from_the_cluster_is_code(text: str, safe: str) -> None:
    assert markdown.code(text) == safe


def test_markdown_bar_does_not_end_a_cell() -> None:
    odd = samples.changed(samples.placed(), verdict={"observed": "a|b"})
    row = next(line for line in markdown.render([odd]).splitlines() if "a\\|b" in line)
    assert row.replace("\\|", "").count("|") == 9


def test_junit_has_a_case_per_receipt() -> None:
    root = Xml.fromstring(junit.render([*samples.demo()]))  # noqa: S314 - we wrote it
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures")) == ("4", "0")
    assert [case.get("name") for case in suite] == [one.step for one in samples.demo()]
    assert suite[0].get("time") == "3.027"


def test_junit_failure_has_the_reason() -> None:
    bad = samples.broken()
    bad = samples.changed(bad, verdict={"reason": bad.verdict.reason + " \x1b[31m<&>"})
    root = Xml.fromstring(junit.render([bad]))  # noqa: S314 - we wrote it
    failure = root.find(".//failure")
    assert failure is not None
    message = failure.get("message") or ""
    assert message.startswith("expected placed, observed partial: 3 of 4 pods of gang-0 bound")
    assert "<&>" in message
    assert root.get("failures") == "1"


def test_summary_puts_gangs_first() -> None:
    failed = {"ok": False, "observed": "absent", "reason": "nothing bound"}
    control = samples.changed(samples.partial(), verdict=failed)
    unclear = summarize([samples.placed(), control])
    assert (unclear.answer, unclear.reasons) == ("unclear", [("no-gang", "nothing bound")])
    assert summarize([samples.broken(), control]).answer == "no"
    stuck = samples.changed(samples.placed(), verdict=failed)
    assert summarize([stuck]).answer == "unclear"
    assert summarize([stuck, samples.broken()]).answer == "no"
    assert "within 226 ms" in summarize(samples.demo()).lead
    assert "2 of 4 pods" in summarize(samples.demo()).lead


def test_step_that_failed_without_a_failed_verdict_makes_the_answer_unclear() -> None:
    missing = summarize([samples.held(), samples.partial()], [("gang", "no verdict was reached")])
    assert (missing.answer, missing.lead) == ("unclear", "2 of 3 verdicts as expected.")
    assert missing.reasons == [("gang", "no verdict was reached")]
    failed = [("gang", "the update failed"), ("no-gang", "so did this one")]
    void = summarize([samples.placed(), samples.partial()], failed)
    assert (void.answer, void.lead) == ("unclear", "0 of 2 verdicts as expected.")
    torn = summarize([samples.broken()], failed)
    assert (torn.answer, [step for step, _ in torn.reasons]) == ("no", ["gang", "no-gang"])
    assert torn.reasons[0][1].startswith("3 of 4 pods of gang-0 bound")
    assert "Inconclusive" in html.render([samples.placed()], failures=failed)


def test_control_is_put_beside_the_scenario_of_the_registry_or_a_held_gang() -> None:
    (chosen,) = pairs(samples.demo())
    assert [one.step for one in chosen] == ["constrained", "no-gang"]
    others = [samples.placed(), samples.serialized(), samples.held(), samples.deadlocked()]
    assert pairs(others) == [(others[1], others[3])]
    unknown = samples.changed(samples.partial(), scenario="other", step="other")
    assert pairs([*others[:3], unknown]) == [(others[2], unknown)]
    assert pairs([samples.placed()]) == []
    assert pairs([samples.partial()]) == []


def test_facts_of_the_environment_are_flat_and_complete() -> None:
    config = {"a": {"b": [1, "x"], "none": None}, "c": True, "d": "text"}
    assert dict(environment.flat(config)) == {"a.b": '[1, "x"]', "c": "true", "d": "text"}
    bare = samples.changed(samples.placed(), workers=[], config={}, versions={})
    described = dict(environment.described([bare]))
    assert described["Workers"] == {"per scenario": "\N{EN DASH}"}
    assert "not recorded" in markdown.render([bare])
    assert "<h3>Settings</h3>" not in html.render([bare])


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_command_writes_each_format(
    receipts: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "new" / f"report{SUFFIXES[name]}"
    words = ["report", "--receipts", str(receipts), "--output", str(output), "--format", name]
    assert cli.main(words) == 0
    assert output.read_text(encoding="utf-8") == FORMATS[name](samples.demo(), None)
    assert capsys.readouterr().out.startswith(f"{output}: Yes:")


def test_command_tells_machines(
    receipts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.html"
    assert cli.main(["report", "--receipts", str(receipts), "--output", str(output), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["output"], told["answer"]) == (str(output), "yes")
    assert told["verdicts"]["no-gang"] is True
    assert told["failedReceiptsKept"] == 0


def test_command_mentions_the_failed_receipts_that_were_kept(
    receipts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--receipts", str(receipts), "--output", str(tmp_path / "page.html")]
    assert cli.main(words) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    for one in (samples.broken(), samples.placed()):
        receipt.write(receipts / "gang.json", one)
    assert cli.main(words) == 0
    line = f"earlier receipts with a failed verdict: 1, in {receipts / 'failed'}"
    assert capsys.readouterr().out.splitlines()[1:] == [line]


def test_command_writes_to_standard_output(
    receipts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--receipts", str(receipts), "--format", "markdown", "--output", "-"]
    assert cli.main(words) == 0
    assert capsys.readouterr().out == markdown.render(samples.demo())
    assert cli.main([*words, "--json"]) == 2
    assert "use only one" in capsys.readouterr().err


def test_command_names_the_fault_in_one_line(
    receipts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (receipts / "gang.json").write_text("{}")
    assert cli.main(["report", "--receipts", str(receipts)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "gang.json is not a receipt: Object missing required field `schema`" in err
    (receipts / "gang.json").unlink()
    assert cli.main(["report", "--receipts", str(receipts), "--output", str(tmp_path)]) == 2
    assert "cannot write" in capsys.readouterr().err
