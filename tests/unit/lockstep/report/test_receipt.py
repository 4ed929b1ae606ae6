"""Receipts: complete, shareable, and refused in one line when they are not valid."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.judge.model import Verdict
from lockstep.report import receipt
from lockstep.report.receipt import Receipt
from tests import samples
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed

VERDICT = Verdict("placed", "placed", True, "", 4, 4, 0.03, evidence=["4 of 4"])
SCHEMA = Path(receipt.__file__).with_name("receipt.schema.json")


def build(story: Story | None = None, **context: Any) -> Receipt:
    story = story or gang_placed(gang_created(Story().node(0.1, "w1")))
    known = {"cluster": {"name": "c", "provider": "kwok"}, **context}
    return receipt.build(story.recording, expect("placed"), VERDICT, known)


def test_schema_file_is_generated_from_the_structs() -> None:
    generated = json.dumps(receipt.schema(), indent=2) + "\n"
    assert SCHEMA.read_text() == generated, "write receipt.schema() to the file"


def test_document_keeps_its_form() -> None:
    """Receipts of earlier runs are read, and written again without a difference."""
    for path in (Path(samples.__file__).parent / "fixtures" / "receipts").glob("*.json"):
        document = json.loads(path.read_text())
        assert receipt.to_document(receipt.read(path)) == document
        assert not re.search(r'"/|/(home|root|tmp)/|kubeconfig', json.dumps(document))


def test_receipt_holds_no_credentials_and_no_paths() -> None:
    config = {"cluster": {"kubeconfig": "/home/me/.kube/config", "kubeContext": "arn:aws:1"}}
    made = build(
        config={**config, "kubeconfig": "secret", "groups": 1, "list": [{"kubeconfig": "secret"}]},
        cluster={"name": "c", "provider": "existing", "kubeconfig": "secret"},
    )
    assert made.config == {"cluster": {}, "groups": 1, "list": [{}]}
    for private in ("secret", "/home/me", "arn:aws"):
        assert private not in json.dumps(receipt.to_document(made))


def test_context_that_is_not_valid_names_the_field() -> None:
    with pytest.raises(LockstepError, match=r"receipt of gang is not valid: .*\$\.step"):
        build(step="No Slug")


def test_workers_come_from_the_recording_or_else_from_the_context() -> None:
    given = [{"name": "w9", "cpu": "1", "memory": "1Gi"}]
    assert [one.name for one in build(workers=given).workers] == ["w1"]
    assert [one.name for one in build(gang_created(Story()), workers=given).workers] == ["w9"]


def test_write_is_atomic_and_readable_by_everyone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "gang.json"
    receipt.write(path, samples.placed())
    assert receipt.read(path) == samples.placed()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [one.name for one in path.parent.iterdir()] == ["gang.json"]


def test_write_leaves_the_old_receipt_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gang.json"
    receipt.write(path, samples.placed())

    def full_disk(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        receipt.write(path, samples.broken())
    assert receipt.read(path) == samples.placed()
    assert len(list(tmp_path.iterdir())) == 1


def test_failed_receipt_is_kept_beside_the_later_one(tmp_path: Path) -> None:
    path = tmp_path / "gang.json"
    first = samples.changed(samples.broken(), created_at="2026-01-02T03:04:05.678Z")
    for one in (first, samples.placed(), samples.placed()):
        receipt.write(path, one)
    (kept,) = (tmp_path / "failed").iterdir()
    assert kept.name == "gang-20260102T030405678Z.json"
    assert receipt.read(kept) == first
    assert receipt.load(tmp_path) == [samples.placed()]


def test_kept_receipt_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "gang.json"
    failed = [
        samples.changed(samples.broken(), versions={"lws": version}) for version in ("1", "2", "3")
    ]
    for one in (*failed, samples.placed()):
        receipt.write(path, one)
    kept = [receipt.read(one) for one in (tmp_path / "failed").iterdir()]
    assert sorted(one.versions["lws"] for one in kept) == ["1", "2", "3"]


@pytest.mark.parametrize("old", ["{", "{}"])
def test_broken_receipt_is_replaced(tmp_path: Path, old: str) -> None:
    path = tmp_path / "gang.json"
    path.write_text(old)
    receipt.write(path, samples.placed())
    assert receipt.read(path) == samples.placed()
    assert not (tmp_path / "failed").exists()


def test_load_orders_by_start(tmp_path: Path) -> None:
    for one in reversed(samples.demo()):
        receipt.write(tmp_path / f"{one.step}.json", one)
    steps = [one.step for one in receipt.load(tmp_path)]
    assert steps == ["gang", "constrained", "constrained-released", "no-gang"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "Object missing required field `schema`"),
        ("\ufeff{}", "cannot be read as JSON"),
    ],
)
def test_file_that_is_no_receipt_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "gang.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LockstepError) as caught:
        receipt.load(tmp_path)
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("where", "value", "field"),
    [
        ("verdict", {"bound": "four"}, "$.verdict.bound"),
        ("expectation", {"size": 0}, "$.expectation.size"),
        ("timeline", {"end": -1}, "$.timeline.end"),
        ("cluster", {"token": "x"}, "`token` - at `$.cluster`"),
    ],
)
def test_wrong_field_is_named(
    tmp_path: Path, where: str, value: dict[str, Any], field: str
) -> None:
    document = receipt.to_document(samples.placed())
    document[where] |= value
    path = tmp_path / "gang.json"
    path.write_text(json.dumps(document))
    with pytest.raises(LockstepError, match=re.escape(field)):
        receipt.read(path)


def test_missing_receipts_say_how_to_make_some(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(LockstepError, match="make demo"):
            receipt.load(folder)


def test_two_receipts_of_one_step_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        receipt.write(tmp_path / f"{name}.json", samples.placed())
    with pytest.raises(LockstepError, match=r"b\.json is a second receipt of gang"):
        receipt.load(tmp_path)
