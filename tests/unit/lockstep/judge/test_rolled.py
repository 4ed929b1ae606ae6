"""`rolled`: complete groups of the old template are replaced by complete groups of the new one."""

from lockstep.judge.drill_marks import Topic
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.verdicts import accepted, concluded
from tests.unit.lockstep.story import expect, pods

EXPECTATION = expect("rolled", groups=2)


def updating() -> DrillStory:
    groups = DrillStory().whole(1.0, 0).whole(1.0, 1)
    return groups.mark(10.0, Topic.UPDATE_WITHOUT_SURGE, "no room")


def replaced(story: DrillStory, leftover: bool = False) -> DrillStory:
    """Both groups are replaced, one after the other; `leftover`: their PodGroups stay."""
    for at, group in ((11.0, 1), (13.0, 0)):
        story.gone(at, group, None if leftover else "r1").whole(at + 1.0, group, "r2")
    return story


def with_surge(story: DrillStory) -> DrillStory:
    story.mark(20.0, Topic.UPDATE_WITH_SURGE, "room for one").whole(21.0, 2, "r3")
    for at, group in ((22.0, 1), (24.0, 0)):
        story.gone(at, group, "r2").whole(at + 1.0, group, "r3")
    return story.gone(26.0, 2, "r3")


def test_rolled_without_and_with_surge() -> None:
    verdict = accepted(with_surge(replaced(updating())).over(30.0), EXPECTATION)
    assert verdict.measures == {
        "updateSeconds": 4.5,
        "groupsUp": 1,
        "surgeSeconds": 5.5,
        "groupsUpWithSurge": 2,
    }
    assert "never more than 2 bound" in verdict.evidence[0]
    assert "never more than 3 bound" in verdict.evidence[1]


def test_strayed_when_a_group_keeps_the_old_template() -> None:
    story = updating().gone(11.0, 1).whole(12.0, 1, "r2")
    reason = "1 of 2 groups are new and complete, of 2 in all"
    concluded(story.over(20.0), EXPECTATION, "strayed", reason)


def test_strayed_when_a_pod_group_is_left_over() -> None:
    story = replaced(updating(), leftover=True)
    concluded(story.over(20.0), EXPECTATION, "strayed", "unexpected PodGroup gang-0-r1")


def test_strayed_when_a_group_is_made_of_two_templates() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2").own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r1")
    story.bind(12.3, *pods(1)).run(12.5, *pods(1))
    concluded(story.over(20.0), EXPECTATION, "strayed", "gang-1 had pods of two revisions")


def test_strayed_when_there_is_an_extra_group_without_surge() -> None:
    story = replaced(updating().whole(10.5, 2, "r2"))
    reason = "gang-2 was created, although maxSurge is 0"
    concluded(story.gone(15.0, 2, "r2").over(20.0), EXPECTATION, "strayed", reason)


def test_strayed_when_a_new_group_was_bound_in_part_for_long() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2").own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r2")
    story.bind(12.3, *pods(1)[:2])
    concluded(story.until(20.0), EXPECTATION, "strayed", "gang-1 was partly bound for 7.7 s")
