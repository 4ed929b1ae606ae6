"""`rolled`: complete groups of the old template are replaced by complete groups of the new one."""

from __future__ import annotations

from lockstep import judge
from lockstep.judge import Verdict
from lockstep.judge.drill_marks import Topic
from tests.unit.lockstep.drill_story import DrillStory, names
from tests.unit.lockstep.judge.verdicts import accepted
from tests.unit.lockstep.story import Story, expect

EXPECTATION = expect("rolled", groups=2)


def before() -> DrillStory:
    return DrillStory().whole(1.0, 0).whole(1.0, 1)


def without_surge(story: DrillStory) -> DrillStory:
    story.mark(10.0, Topic.UPDATE_WITHOUT_SURGE, "no room")
    for at, group in ((11.0, 1), (13.0, 0)):
        story.gone(at, group).whole(at + 1.0, group, "r2")
    return story


def with_surge(story: DrillStory) -> DrillStory:
    story.mark(20.0, Topic.UPDATE_WITH_SURGE, "room for one").whole(21.0, 2, "r3")
    for at, group in ((22.0, 1), (24.0, 0)):
        story.gone(at, group, "r2").whole(at + 1.0, group, "r3")
    return story.gone(26.0, 2, "r3")


def updating() -> DrillStory:
    return before().mark(10.0, Topic.UPDATE_WITHOUT_SURGE, "no room")


def conclude(story: Story) -> Verdict:
    return judge.conclude(story.recording, EXPECTATION)


def test_rolled_without_and_with_surge() -> None:
    verdict = accepted(with_surge(without_surge(before())).over(30.0), EXPECTATION)
    assert verdict.measures == {
        "updateSeconds": 4.5,
        "groupsUp": 1,
        "surgeSeconds": 5.5,
        "groupsUpWithSurge": 2,
    }
    assert "never more than 2 bound" in verdict.evidence[0]
    assert "never more than 3 bound" in verdict.evidence[1]


def test_rolled_waits_for_the_end_of_the_drill() -> None:
    assert judge.judge(without_surge(before()).recording, EXPECTATION) is None


def test_strayed_when_a_group_keeps_the_old_template() -> None:
    story = updating().gone(11.0, 1).whole(12.0, 1, "r2")
    verdict = conclude(story.over(20.0))
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "1 of 2 groups are new and complete, of 2 in all" in verdict.reason


def test_strayed_when_a_pod_group_is_left_over() -> None:
    story = updating()
    for at, group in ((11.0, 1), (13.0, 0)):
        story.gone(at, group, revision=None).whole(at + 1.0, group, "r2")
    verdict = conclude(story.over(20.0))
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "unexpected PodGroup gang-0-r1" in verdict.reason


def test_strayed_when_a_group_is_made_of_two_templates() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2")
    story.own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r1")
    for name in names(1):
        story.bind(12.3, name).run(12.5, name)
    verdict = conclude(story.over(20.0))
    assert "gang-1 had pods of two revisions" in verdict.reason


def test_strayed_when_there_is_an_extra_group_without_surge() -> None:
    story = updating().whole(10.5, 2, "r2")
    for at, group in ((11.0, 1), (13.0, 0)):
        story.gone(at, group).whole(at + 1.0, group, "r2")
    verdict = conclude(story.gone(15.0, 2, "r2").over(20.0))
    assert "gang-2 was created, although maxSurge is 0" in verdict.reason


def test_strayed_when_a_new_group_was_bound_in_part_for_long() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2")
    story.own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r2")
    for name in names(1)[:2]:
        story.bind(12.3, name)
    verdict = conclude(story.until(20.0))
    assert (verdict.observed, verdict.ok) == ("strayed", False)
    assert "gang-1 was partly bound for 7.7 s" in verdict.reason
