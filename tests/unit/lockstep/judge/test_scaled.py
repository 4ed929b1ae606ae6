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
    assert verdict.reason == "groups 2 → 6 → 1, PodGroups followed exactly"
    assert verdict.bind_skew_seconds == 0.03


def test_scaled_when_the_last_pod_runs_or_is_deleted() -> None:
    story = DrillStory().whole(1.0).mark(5.0, Topic.SCALE, "1").mark(10.0, Topic.SCALE, "3")
    story.whole(10.5, 2).leader(11.0, 1).own_pod_group(11.0, 1).workers(11.0, 1)
    story.bind(12.0, "gang-1").bind(12.5, *pods(1)[1:]).run(13.0, *pods(1))
    story.change(15.0, "gang-0", ready=True).mark(20.0, Topic.SCALE, "2").gone(21.0, 1, None)
    story.tell(21.0, "podgroup", "DELETED", "gang-1-r1").change(22.0, "gang-2", ready=True)
    story.mark(30.0, Topic.SCALE, "1").delete(40.0, *pods(2))
    verdict = accepted(story.tell(39.0, "podgroup", "DELETED", "gang-2-r1").over(40.0), EXPECTATION)
    own = "complete, each with a PodGroup of its leader, and no other PodGroup"
    assert verdict.evidence == [
        f"1 requested: after 0.0 s gang-0 {own}",
        f"3 requested: after 3.0 s gang-0, gang-1, gang-2 {own}",
        f"2 requested: after 1.1 s gang-0, gang-2 {own}",
        f"1 requested: after 10.0 s gang-0 {own}",
        "no group was partly bound for longer than 0.500 s",
    ]
    assert verdict.bind_skew_seconds == 0.5


def test_strayed_when_a_group_is_missing() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").until(20.0)
    concluded(story, EXPECTATION, "strayed", "scaled to 2: 1 complete groups")


def test_strayed_when_a_pod_group_outlives_its_group() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1").gone(21.0, 1, revision=None)
    story.pod_group(22.0, name="gang-0-old", ownerUid="another-leader").over(30.0)
    what = "scaled to 1: unexpected PodGroup gang-1-r1; unexpected PodGroup gang-0-old"
    evidence = concluded(story, EXPECTATION, "strayed", what).evidence
    assert (len(evidence), evidence[-1]) == (2, what)


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


def test_strayed_when_a_group_has_no_pod_group_and_another_is_left_over_for_a_while() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.tell(12.0, "podgroup", "DELETED", "gang-1-r1").pod_group(13.0, name="left", ownerUid="x")
    story.mark(20.0, Topic.SCALE, "1").gone(21.0, 1, None).tell(22.0, "podgroup", "DELETED", "left")
    what = "scaled to 2: gang-1 owns no PodGroup; unexpected PodGroup left"
    concluded(story.over(30.0), EXPECTATION, "strayed", what)


def test_group_that_is_taken_away_may_not_leave_a_part() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1)
    story.mark(20.0, Topic.SCALE, "1").delete(21.0, "gang-1").delete(66.1, *pods(1)[1:])
    story.tell(66.1, "podgroup", "DELETED", "gang-1-r1").over(70.0)
    words = "gang-1 lost a pod and was partly bound for 45.1 s after"
    concluded(story, EXPECTATION, "torn", words)


def test_pod_that_is_created_in_the_last_moment_of_a_step_is_one_too_many() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "1").pod(20.0, "gang-0-9").over(20.0)
    concluded(story, EXPECTATION, "strayed", "5 pods, not 1 x 4")
