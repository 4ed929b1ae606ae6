"""Verdicts of a story: decided already, decided as a failure, or only at the deadline."""

from __future__ import annotations

from lockstep import judge
from lockstep.judge import Expectation, Verdict
from tests.unit.lockstep.story import Story, expect


def judged(story: Story, expectation: Expectation) -> Verdict:
    """The verdict that the story already decides."""
    verdict = judge.judge(story.recording, expectation)
    assert verdict is not None
    return verdict


def accepted(story: Story, expectation: Expectation) -> Verdict:
    """The verdict that the story already decides, which is ok."""
    verdict = judged(story, expectation)
    assert verdict.ok, verdict.reason
    return verdict


def fault(story: Story, verdict: str) -> Verdict:
    """The verdict that the story already decides, which is not ok."""
    decided = judged(story, expect(verdict))
    assert not decided.ok
    return decided


def at_deadline(story: Story, verdict: str = "placed") -> Verdict:
    """The verdict that is decided only at the deadline, which is not ok."""
    assert judge.judge(story.recording, expect(verdict)) is None
    concluded = judge.conclude(story.recording, expect(verdict))
    assert not concluded.ok
    return concluded
