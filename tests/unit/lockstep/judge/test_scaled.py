"""`scaled`: as many complete groups and PodGroups as requested, at every step."""

from lockstep.judge.drill_marks import Topic
from lockstep.scenarios.registry import SCALE_STEPS as STEPS
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.verdicts import accepted, concluded
from tests.unit.lockstep.story import expect, pods

EXPECTATION = expect("scaled")


def test_scaled_through_all_steps_with_their_times() -> None:
    assert STEPS == (2, 6, 1)
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "6")
    for group in range(2, 6):
        story.whole(21.0 + group, group)
    story.mark(30.0, Topic.SCALE, "1")
    for group in range(5, 0, -1):
        story.gone(31.0, group)
    verdict = accepted(story.over(40.0), EXPECTATION)
    assert verdict.measures == {
        "scaleTo2Seconds": 1.5,
        "scaleTo6Seconds": 6.5,
        "scaleTo1Seconds": 1.2,
    }
    assert "2 → 6 → 1" in verdict.reason
    assert verdict.bind_skew_seconds == 0.03


def test_strayed_when_a_group_is_missing() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").until(20.0)
    concluded(story, EXPECTATION, "strayed", "scaled to 2: 1 complete groups")


def test_strayed_when_a_pod_group_outlives_its_group() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1").gone(21.0, 1, revision=None).over(30.0)
    concluded(story, EXPECTATION, "strayed", "unexpected PodGroup gang-1-r1")


def test_strayed_when_a_group_was_bound_in_part_for_long() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").leader(11.0, 1)
    story.own_pod_group(11.0, 1).workers(11.0, 1)
    for at, name in zip((12.0, 12.0, 12.0, 16.0), pods(1), strict=True):
        story.bind(at, name).run(at, name)
    concluded(story.over(20.0), EXPECTATION, "strayed", "gang-1 was partly bound for 4.0 s")


def test_strayed_when_a_pod_outlives_its_group() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1")
    story.delete(21.0, *pods(1)[:3])
    story.tell(21.5, "podgroup", "DELETED", "gang-1-r1")
    concluded(story.over(30.0), EXPECTATION, "strayed", "5 pods, not 1 x 4")
