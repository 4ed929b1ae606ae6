"""Receipts: complete, shareable, and refused in one line when they are broken."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lockstep.errors import LockstepError
from lockstep.report import receipt
from lockstep.report.receipt import Receipt
from tests import samples
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed

MAKERS = [samples.placed, samples.held, samples.released, samples.partial, samples.broken]
VERDICT = {
    "expected": "placed",
    "observed": "placed",
    "ok": True,
    "bound": 4,
    "size": 4,
    "bindSkewSeconds": 0.03,
    "evidence": ["4 of 4"],
}


def build(**context: Any) -> Receipt:
    story = gang_placed(gang_created(Story().node(0.1, "w1")))
    known = {"cluster": {"name": "c", "provider": "kwok"}, **context}
    return receipt.build(story.recording, expect("placed").to_mapping(), VERDICT, known)


@pytest.mark.parametrize("make", MAKERS)
def test_receipt_follows_the_schema(make: Callable[[], Receipt]) -> None:
    jsonschema.validate(make(), receipt.schema())


def test_real_receipts_follow_the_schema_and_name_no_machine() -> None:
    for one in samples.real():
        jsonschema.validate(one, receipt.schema())
        assert not re.search(r'"/|/(home|root|tmp)/|kubeconfig', json.dumps(one))


def test_receipt_says_when_it_was_made_unless_told() -> None:
    jsonschema.validate(build(), receipt.schema())
    assert build(createdAt="2026-01-02T03:04:05Z")["createdAt"] == "2026-01-02T03:04:05Z"


def test_receipt_keeps_evidence_and_reason_apart_from_the_contract() -> None:
    made = build()
    assert made["evidence"] == ["4 of 4"]
    assert "evidence" not in made["verdict"]
    assert made["verdict"]["reason"] == ""


def test_receipt_holds_no_credentials_and_no_paths() -> None:
    config = {"cluster": {"kubeconfig": "/home/me/.kube/config", "kubeContext": "arn:aws:1"}}
    made = build(
        config={**config, "kubeconfig": "secret", "groups": 1, "list": [{"kubeconfig": "secret"}]},
        cluster={"name": "c", "provider": "existing", "kubeconfig": "secret"},
    )
    assert made["config"] == {"cluster": {}, "groups": 1, "list": [{}]}
    for private in ("secret", "/home/me", "arn:aws"):
        assert private not in json.dumps(made)


def test_release_is_a_step_of_its_own() -> None:
    assert samples.held()["step"] == "constrained"
    assert samples.released()["step"] == "constrained-released"
    assert build(step="gang-again")["step"] == "gang-again"


def test_workers_come_from_the_recording_or_else_from_the_context() -> None:
    given = [{"name": "w9", "cpu": "1", "memory": "1Gi"}]
    assert [one["name"] for one in build(workers=given)["workers"]] == ["w1"]
    story = gang_created(Story())
    context = {"cluster": {"name": "c", "provider": "kwok"}, "workers": given}
    made = receipt.build(story.recording, expect("placed").to_mapping(), VERDICT, context)
    assert made["workers"] == given


def test_write_is_whole_and_readable_by_all(tmp_path: Path) -> None:
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

    monkeypatch.setattr("lockstep.report.receipt.os.replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        receipt.write(path, samples.broken())
    assert receipt.read(path) == samples.placed()
    assert len(list(tmp_path.iterdir())) == 1


def test_write_refuses_what_is_no_receipt(tmp_path: Path) -> None:
    incomplete = samples.placed()
    del incomplete["timeline"]
    with pytest.raises(LockstepError, match="timeline is missing"):
        receipt.write(tmp_path / "gang.json", incomplete)
    assert not list(tmp_path.iterdir())


def test_load_orders_by_start(tmp_path: Path) -> None:
    for one in reversed(samples.demo()):
        receipt.write(tmp_path / f"{one['step']}.json", one)
    steps = [one["step"] for one in receipt.load(tmp_path)]
    assert steps == ["gang", "constrained", "constrained-released", "no-gang"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "must be object"),
        ("{}", "schema is missing"),
        ("\ufeff{}", "cannot be read as JSON"),
    ],
)
def test_broken_receipt_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "gang.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(LockstepError) as caught:
        receipt.load(tmp_path)
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


def test_missing_receipts_say_how_to_make_some(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(LockstepError, match="make demo"):
            receipt.load(folder)


def test_two_receipts_of_one_step_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        receipt.write(tmp_path / f"{name}.json", samples.placed())
    with pytest.raises(LockstepError, match=r"b\.json is a second receipt of gang"):
        receipt.load(tmp_path)


def test_home_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOCKSTEP_RECEIPTS", str(tmp_path))
    assert receipt.home() == tmp_path
    monkeypatch.delenv("LOCKSTEP_RECEIPTS")
    assert receipt.home().parts[-2:] == ("out", "receipts")
