"""`scaled`: as many complete groups and PodGroups as requested, at every step."""

from __future__ import annotations

from lockstep import judge
from lockstep.judge.drill_marks import Topic
from lockstep.scenarios.registry import SCALE_STEPS as STEPS
from tests.unit.lockstep.drill_story import DrillStory, names
from tests.unit.lockstep.judge.verdicts import accepted
from tests.unit.lockstep.story import expect

EXPECTATION = expect("scaled")


def scaled(story: DrillStory | None = None) -> DrillStory:
    story = (story or DrillStory()).whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "6")
    for group in range(2, 6):
        story.whole(21.0 + group, group)
    story.mark(30.0, Topic.SCALE, "1")
    for group in range(5, 0, -1):
        story.gone(31.0, group)
    return story


def test_scaled_through_all_steps_with_their_times() -> None:
    assert STEPS == (2, 6, 1)
    verdict = accepted(scaled().over(40.0), EXPECTATION)
    assert verdict.measures == {
        "scaleTo2Seconds": 1.5,
        "scaleTo6Seconds": 6.5,
        "scaleTo1Seconds": 1.2,
    }
    assert "2 → 6 → 1" in verdict.reason
    assert verdict.bind_skew_seconds == 0.03


def test_scaled_waits_for_the_end_of_the_drill() -> None:
    assert judge.judge(scaled().recording, EXPECTATION) is None


def test_strayed_when_a_group_is_missing() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").until(20.0)
    verdict = judge.conclude(story.recording, EXPECTATION)
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "scaled to 2: 1 complete groups" in verdict.reason


def test_strayed_when_a_pod_group_outlives_its_group() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1").gone(21.0, 1, revision=None).over(30.0)
    verdict = judge.conclude(story.recording, EXPECTATION)
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "unexpected PodGroup gang-1-r1" in verdict.reason


def test_strayed_when_a_group_was_bound_in_part_for_long() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").leader(11.0, 1)
    story.own_pod_group(11.0, 1)
    story.workers(11.0, 1)
    for at, name in zip((12.0, 12.0, 12.0, 16.0), names(1), strict=True):
        story.bind(at, name).run(at, name)
    verdict = judge.conclude(story.over(20.0).recording, EXPECTATION)
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "gang-1 was partly bound for 4.0 s" in verdict.reason


def test_strayed_when_a_pod_outlives_its_group() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1")
    for name in names(1)[:3]:
        story.delete(21.0, name)
    story.tell(21.5, "podgroup", "DELETED", "gang-1-r1")
    verdict = judge.conclude(story.over(30.0).recording, EXPECTATION)
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "5 pods, not 1 x 4" in verdict.reason
