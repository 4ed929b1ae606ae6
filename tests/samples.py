"""Receipts for tests of the report: those of a real run, and those of stories that are judged."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lockstep import judge
from lockstep.judge import Expectation
from lockstep.judge.drill_marks import Topic
from lockstep.report import receipt
from lockstep.report.receipt import Receipt
from tests.unit.lockstep import crowds
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed, pods

CONTEXT: dict[str, Any] = {
    "createdAt": "2026-03-02T09:15:04.000Z",
    "versions": {"kubernetes": "1.34.4", "volcano": "1.14.1", "lws": "0.8.0", "lockstep": "0.1.0"},
    "cluster": {"name": "lockstep-demo", "provider": "kwok"},
    "config": {"gangScheduling": True, "groupSize": 4, "groups": 1, "workersPerScenario": 3},
}


def demo() -> list[Receipt]:
    """The demo's receipts of a real run, on the embedded cluster."""
    return receipt.load(Path(__file__).with_name("fixtures") / "receipts")


def placed() -> Receipt:
    return demo()[0]


def held() -> Receipt:
    return demo()[1]


def partial() -> Receipt:
    return demo()[3]


def released(quiet: float) -> Receipt:
    """One worker is unblocked after a time in which nothing happens."""
    story = gang_created(Story().node(0.0, "w1", "blocked")).node(quiet, "w1")
    return _receipt(gang_placed(story, quiet + 0.6), expect("released", scenario="constrained"))


def broken() -> Receipt:
    """A gang of which one pod never got a node."""
    story = gang_created(Story().node(0.0, "w1")).bind(2.0, *pods()[:3])
    return _receipt(story.until(8.0), expect("placed"))


def crowd(gangs: int = 100) -> Receipt:
    """Many gangs that get their nodes one after another."""
    story = crowds.crowd(gangs)
    for group in range(gangs):
        gang_placed(story, 2.0 + 0.11 * group, group)
    return _receipt(story, expect("placed", scenario="contention", groups=gangs))


def serialized() -> Receipt:
    """Three gangs with room for one: each runs, ends, and is recreated."""
    story = crowds.taking_turns()
    for group in range(3):
        text = f"gang-{group} has worked for 1.0 s and ends"
        story.recording.mark(Topic.GANG_ENDS, text, 3.0 + 3.0 * group, "LeaderWorkerSet/gang")
    story.recording.mark(Topic.OVER, "", 13.0, "LeaderWorkerSet/gang")
    return _receipt(story, expect("serialized", scenario="contention", groups=3, at_once=1))


def deadlocked() -> Receipt:
    """The same three gangs on the default scheduler: each has a part."""
    expectation = expect("deadlocked", scenario="contention-control", groups=3, gang=False)
    return _receipt(crowds.deadlock().until(12.0), expectation)


def _receipt(story: Story, expectation: Expectation) -> Receipt:
    verdict = judge.conclude(story.recording, expectation)
    return receipt.build(story.recording, expectation, verdict, CONTEXT)


def changed(
    one: Receipt,
    *,
    verdict: Mapping[str, Any] | None = None,
    expectation: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Receipt:
    """The same receipt with other values."""
    return replace(
        one,
        verdict=replace(one.verdict, **(verdict or {})),
        expectation=replace(one.expectation, **(expectation or {})),
        **fields,
    )
