"""Verdicts of a story: decided already, decided as a failure, or only at the deadline."""

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


def fault(story: Story, expected: Expectation | str, observed: str, *words: str) -> Verdict:
    """The verdict that the story already decides: a failure whose reason has these words."""
    return _failed(judged(story, _expectation(expected)), observed, words)


def concluded(story: Story, expected: Expectation | str, observed: str, *words: str) -> Verdict:
    """The verdict at the end of the story: a failure whose reason has these words."""
    verdict = judge.conclude(story.recording, _expectation(expected))
    return _failed(verdict, observed, words)


def at_deadline(story: Story, expected: Expectation | str, observed: str, *words: str) -> Verdict:
    """The failure that is decided only at the deadline."""
    assert judge.judge(story.recording, _expectation(expected)) is None
    return concluded(story, expected, observed, *words)


def _expectation(expected: Expectation | str) -> Expectation:
    return expect(expected) if isinstance(expected, str) else expected


def _failed(verdict: Verdict, observed: str, words: tuple[str, ...]) -> Verdict:
    assert (verdict.observed, verdict.ok) == (observed, False)
    assert all(word in verdict.reason for word in words), verdict.reason
    return verdict
