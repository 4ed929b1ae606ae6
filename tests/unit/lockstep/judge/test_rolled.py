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
    assert verdict.reason == "2 rolling updates of 2 groups, each group replaced completely"
    assert verdict.evidence == [
        "update without surge (no room): done in 4.5 s, never fewer than 1 complete groups, "
        "never more than 2 bound",
        "update with surge (room for one): done in 5.5 s, never fewer than 2 complete groups, "
        "never more than 3 bound",
        "no group of either revision was partly bound for longer than 0.030 s",
        "no PodGroup was left over",
    ]


def surged() -> DrillStory:
    """The leader of the surge's group is bound, and a group of the old template goes."""
    groups = DrillStory().whole(1.0, 0).whole(1.0, 1).mark(10.0, Topic.UPDATE_WITH_SURGE, "")
    story = groups.leader(11.0, 2, "r2").own_pod_group(11.0, 2, "r2").workers(11.0, 2, "r2")
    story.bind(12.0, "gang-2")
    story.delete(13.0, *pods(1)).tell(13.0, "podgroup", "DELETED", "gang-1-r1")
    return story


def test_rolled_counts_a_group_as_lost_at_once_when_its_pods_terminate() -> None:
    story = surged()
    story.bind(12.5, *pods(2)[1:]).run(13.5, *pods(2)).whole(14.0, 1, "r2").gone(15.0, 0).whole(
        16.0, 0, "r2"
    )
    verdict = accepted(story.gone(17.0, 2, "r2").over(20.0), EXPECTATION)
    assert verdict.measures == {"surgeSeconds": 6.5, "groupsUpWithSurge": 1}
    assert verdict.bind_skew_seconds == 0.5


def test_rolled_counts_a_group_as_bound_with_its_first_pod() -> None:
    story = surged().delete(13.0, *pods(0)).tell(13.0, "podgroup", "DELETED", "gang-0-r1")
    story.delete(13.1, *pods(2)).tell(13.1, "podgroup", "DELETED", "gang-2-r2")
    story.whole(14.0, 1, "r2").whole(14.0, 0, "r2")
    verdict = accepted(story.over(20.0), EXPECTATION)
    assert "never fewer than 0 complete groups, never more than 3 bound" in verdict.evidence[0]


def test_rolled_counts_the_groups_that_were_complete_when_it_began() -> None:
    story = DrillStory().whole(1.0, 0).leader(1.0, 1).own_pod_group(1.0, 1).workers(1.0, 1)
    story.bind(2.0, *pods(1)).mark(10.0, Topic.UPDATE_WITH_SURGE, "").run(11.0, *pods(1))
    story.whole(12.0, 2, "r2")
    for at, group in ((14.0, 1), (16.0, 0)):
        story.gone(at, group).whole(at + 1.0, group, "r2")
    verdict = accepted(story.gone(18.0, 2, "r2").over(20.0), EXPECTATION)
    assert verdict.measures["groupsUpWithSurge"] == 1


def test_strayed_when_the_new_groups_are_of_two_templates() -> None:
    story = updating().gone(11.0, 1).whole(12.0, 1, "r2").gone(13.0, 0).whole(14.0, 0, "r3")
    reason = "the new groups are of different revisions"
    concluded(story.over(20.0), EXPECTATION, "strayed", reason)


def test_strayed_when_a_group_too_many_stays() -> None:
    groups = DrillStory().whole(1.0, 0).whole(1.0, 1).whole(10.0, 2)
    story = replaced(groups.mark(10.0, Topic.UPDATE_WITHOUT_SURGE, "no room"))
    reason = "2 of 2 groups are new and complete, of 3 in all"
    concluded(story.over(20.0), EXPECTATION, "strayed", reason)
    accepted(story.gone(19.0, 2).over(20.0), EXPECTATION)


def test_strayed_when_a_group_keeps_the_old_template() -> None:
    story = updating().gone(11.0, 1).whole(12.0, 1, "r2")
    reason = "1 of 2 groups are new and complete, of 2 in all"
    concluded(story.over(20.0), EXPECTATION, "strayed", reason)


def test_strayed_when_a_pod_group_is_left_over() -> None:
    story = replaced(updating(), leftover=True)
    why = "unexpected PodGroup gang-0-r1; unexpected PodGroup gang-1-r1"
    verdict = concluded(story.over(20.0), EXPECTATION, "strayed", why)
    assert verdict.evidence == [f"update without surge: {why}"]


def test_strayed_in_the_second_update_shows_the_first() -> None:
    story = replaced(updating()).mark(20.0, Topic.UPDATE_WITH_SURGE, "room for one")
    evidence = concluded(story.over(30.0), EXPECTATION, "strayed").evidence
    assert [line.partition(" (")[0] for line in evidence] == [
        "update without surge",
        "update with surge: 0 of 2 groups are new and complete, of 2 in all",
    ]


def test_strayed_when_a_group_is_made_of_two_templates() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2").own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r1")
    story.bind(12.3, *pods(1)).run(12.5, *pods(1))
    concluded(story.over(20.0), EXPECTATION, "strayed", "gang-1 had pods of two revisions")


def test_strayed_when_there_is_an_extra_group_without_surge() -> None:
    story = replaced(updating().whole(10.5, 2, "r2"))
    reason = "gang-2 was created, although maxSurge is 0"
    concluded(story.gone(15.0, 2, "r2").over(20.0), EXPECTATION, "strayed", reason)
    story = replaced(updating()).leader(20.0, 2, "r2").own_pod_group(20.0, 2, "r2")
    story.tell(20.0, "podgroup", "DELETED", "gang-2-r2")
    concluded(story.over(20.0), EXPECTATION, "strayed", reason)


def test_strayed_when_a_new_group_was_bound_in_part_for_long() -> None:
    story = updating().gone(11.0, 1).leader(12.0, 1, "r2").own_pod_group(12.0, 1, "r2")
    story.workers(12.1, 1, "r2")
    story.bind(12.3, *pods(1)[:2])
    concluded(story.until(20.0), EXPECTATION, "strayed", "gang-1 was partly bound for 7.7 s")


def test_group_that_ends_when_another_is_bound_is_not_bound_beside_it() -> None:
    story = DrillStory().whole(1.0, 0).whole(1.0, 1).mark(10.0, Topic.UPDATE_WITH_SURGE, "")
    for at, group, ends in ((12.0, 2, 1), (14.0, 1, 0), (16.0, 0, 2)):
        story.leader(at - 1, group, "r2").own_pod_group(at - 1, group, "r2")
        story.workers(at - 1, group, "r2").delete(at, *pods(ends)).bind(at, *pods(group))
        story.tell(at, "podgroup", "DELETED", f"gang-{ends}-{'r2' if ends == 2 else 'r1'}")
        story.run(at + 0.2, *pods(group))
    (update, *_) = accepted(story.over(20.0), EXPECTATION).evidence
    assert "never more than 2 bound" in update
