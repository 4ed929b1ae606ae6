"""`leader-first`: what LeaderReady leaves of a gang; and `refused`: LWS without its rights."""

import pytest

from lockstep.judge.drill_marks import Topic
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.verdicts import accepted, concluded, judged
from tests.unit.lockstep.story import expect, pods

LEADER_FIRST = expect("leader-first", min_member=1)
REFUSED = expect("refused")
FORBIDDEN = "podgroups.scheduling.volcano.sh is forbidden: User cannot create"


def with_room_for_a_part() -> DrillStory:
    """A leader that is recreated on a small pool."""
    story = DrillStory().whole(1.0, minMember=1).mark(10.0, Topic.ROOM_FOR_A_PART, "2 of 4 pods")
    return story.gone(10.1).leader(11.0).own_pod_group(11.0, minMember=1)


def leader_alone() -> DrillStory:
    """A leader that is recreated on a small pool, bound and ready."""
    story = with_room_for_a_part().bind(12.0, "gang-0")
    return story.change(12.2, "gang-0", phase="Running", ready=True)


def split() -> DrillStory:
    """One worker finds room beside its leader, two are refused."""
    story = leader_alone().workers(12.5).bind(13.0, "gang-0-1").run(13.1, "gang-0-1")
    return story.refuse_pod(13.2, "gang-0-2", "gang-0-3")


def released(story: DrillStory) -> DrillStory:
    story.mark(18.0, Topic.ROOM_FOR_ALL, "4 pods")
    story.bind(18.5, *pods()[2:]).run(19.0, *pods()[2:])
    return story.over(25.0)


def test_leader_first_with_a_part_bound_and_the_rest_later() -> None:
    verdict = accepted(released(split()), LEADER_FIRST)
    assert verdict.observed == "leader-first"
    assert verdict.measures == {
        "boundWithoutRoom": 2,
        "partialSeconds": 6.0,
        "releaseSeconds": 1.0,
    }
    assert verdict.bind_skew_seconds == 6.5
    assert verdict.reason == (
        "no all-or-nothing with LeaderReady: with room for a part, 2 of 4 pods were bound, the "
        "leader first, and stayed so for 6.0 s"
    )
    assert verdict.evidence == [
        "room for a part (2 of 4 pods): gang-0, gang-0-1 bound for 6.0 s, gang-0-2, gang-0-3 "
        "refused: 0/3 nodes are available: 1 Insufficient cpu",
        "gang-0 was bound alone, as minMember is 1; its workers were created when it was ready, "
        "0.5 s later",
        "room for all (4 pods): complete 1.0 s later",
    ]


def test_a_part_whose_others_no_scheduler_refused_shows_nothing() -> None:
    story = leader_alone().workers(12.5).bind(13.0, "gang-0-1").run(13.1, "gang-0-1")
    concluded(released(story), LEADER_FIRST, "ignored", "gang-0-2, gang-0-3 was not refused")


def test_a_group_that_is_held_is_not_leader_first() -> None:
    reason = "0 of 4 pods of gang-0 were bound without room for all"
    concluded(with_room_for_a_part().over(20.0), LEADER_FIRST, "held", reason)


def test_a_group_that_was_there_before_is_not_judged() -> None:
    story = DrillStory().whole(10.0).mark(10.0, Topic.ROOM_FOR_A_PART, "2 of 4 pods").over(20.0)
    concluded(story, LEADER_FIRST, "lost", "gang-0 was not recreated")


@pytest.mark.parametrize("ready", [True, False])
def test_workers_before_a_ready_leader_are_a_failure(ready: bool) -> None:
    story = with_room_for_a_part().workers(11.1).bind(12.0, "gang-0")
    story.change(12.2, "gang-0", ready=ready).change(13.0, *pods()[1:], ready=False)
    reason = "gang-0-1, gang-0-2, gang-0-3 was created before the leader was ready"
    concluded(story.over(20.0), LEADER_FIRST, "partial", reason)


def test_workers_without_their_leader_are_a_failure() -> None:
    story = with_room_for_a_part().workers(11.1).bind(12.0, "gang-0-1")
    concluded(
        story.over(20.0), LEADER_FIRST, "partial", "gang-0-1 bound, but not the leader gang-0"
    )


def test_a_part_that_does_not_last_shows_nothing() -> None:
    story = leader_alone().mark(13.0, Topic.ROOM_FOR_ALL, "4 pods").workers(13.1)
    story.bind(13.5, *pods()[1:]).run(14.0, *pods()[1:])
    reason = "1 of 4 pods of gang-0 bound: not a lasting part"
    concluded(story.over(20.0), LEADER_FIRST, "placed", reason)


@pytest.mark.parametrize(("last", "is_lasting"), [(15.0, True), (15.1, False)])
def test_a_part_lasts_from_its_last_bind_for_three_seconds(last: float, is_lasting: bool) -> None:
    story = leader_alone()
    for at, name in zip((12.2, 12.3, 12.4), pods()[1:], strict=True):
        story.pod(at, name, revision="r1", unschedulable="no room")
    verdict = judged(released(story.bind(last, "gang-0-1").run(last, "gang-0-1")), LEADER_FIRST)
    assert verdict.observed == ("leader-first" if is_lasting else "placed")
    assert not is_lasting or verdict.evidence[1].endswith("when it was ready, 0.2 s later")


def test_a_pod_that_is_bound_as_room_is_made_belongs_to_the_part() -> None:
    story = leader_alone().workers(12.2).bind(18.0, "gang-0-1")
    concluded(released(story), LEADER_FIRST, "placed", "2 of 4 pods")


def test_all_pods_bound_without_room_are_no_part() -> None:
    story = leader_alone().workers(12.5).bind(13.0, *pods()[1:]).run(13.1, *pods()[1:])
    story.mark(18.0, Topic.ROOM_FOR_ALL, "4 pods")
    concluded(story.over(25.0), LEADER_FIRST, "placed", "4 of 4 pods")


def test_a_group_that_stays_partly_bound_with_room_is_a_failure() -> None:
    reason = "gang-0 did not become complete when there was room"
    story = split().mark(18.0, Topic.ROOM_FOR_ALL, "4 pods").over(25.0)
    concluded(story, LEADER_FIRST, "partial", reason)
    concluded(split().over(25.0), LEADER_FIRST, "partial", reason)
    story = split().mark(17.0, Topic.FAILED, "no room").bind(18.5, *pods()[2:])
    concluded(story.run(19.0, *pods()[2:]), LEADER_FIRST, "partial", reason)
    story = split().mark(18.0, Topic.ROOM_FOR_ALL, "4 pods").bind(18.5, *pods()[2:])
    story.run(19.0, *pods()[2:]).delete(20.0, "gang-0-3")
    concluded(story.over(25.0), LEADER_FIRST, "partial", reason)


def test_a_pod_group_of_the_whole_group_is_a_mismatch() -> None:
    story = split().tell(14.0, "podgroup", "MODIFIED", "gang-0-r1", minMember=4)
    concluded(released(story), LEADER_FIRST, "mismatched", "minMember 4, not 1")


def rights_taken() -> DrillStory:
    story = DrillStory().whole(1.0).mark(10.0, Topic.RIGHTS_TAKEN, "LWS may not")
    return story.gone(10.1).leader(11.0)


def without_rights() -> DrillStory:
    return rights_taken().mark(15.0, Topic.LWS_ERROR, FORBIDDEN)


def recovered(story: DrillStory) -> DrillStory:
    story.mark(16.0, Topic.RIGHTS_BACK, "LWS may again").own_pod_group(17.0).workers(17.1)
    return story.bind(17.5, *pods()).run(18.0004, *pods()).over(22.0)


def test_refused_with_the_words_of_lws_and_the_recovery() -> None:
    verdict = accepted(recovered(without_rights()), REFUSED)
    assert verdict.reason == (
        "without permission to create PodGroups nothing started in 5.0 s; with it, the group was "
        "complete 2.0 s later"
    )
    assert verdict.evidence == [
        f"LWS: {FORBIDDEN}",
        "gang-0 waited 5.0 s, not bound, without a PodGroup and with 0 workers",
        "rights back: gang-0 complete after 2.0 s, under a PodGroup of its leader",
    ]
    assert verdict.measures == {"refusedSeconds": 5.0, "recoverySeconds": 2.0}


def test_refused_counts_the_workers_that_were_created_without_rights() -> None:
    story = without_rights().leader(12.0, 1)  # of a group that is not expected
    story.pod(15.5, "gang-0-1", revision="r1").mark(16.0, Topic.RIGHTS_BACK, "LWS may again")
    story.own_pod_group(16.5).pod(16.0, "gang-0-2", revision="r1")
    story.pod(17.0, "gang-0-3", revision="r1").bind(17.5, *pods()).run(18.0, *pods())
    verdict = accepted(story.over(22.0), REFUSED)
    assert "without a PodGroup and with 2 workers" in verdict.evidence[1]


def test_refused_counts_a_leader_that_is_created_as_the_rights_return_not_as_they_go() -> None:
    story = DrillStory().leader(10.0).mark(10.0, Topic.RIGHTS_TAKEN, "LWS may not")
    story.delete(11.0, "gang-0").mark(15.0, Topic.LWS_ERROR, FORBIDDEN)
    concluded(story.until(16.0), REFUSED, "lost", "LWS created no new leader within 6.0 s")
    accepted(recovered(story.leader(16.0)), REFUSED)


def test_allowed_when_a_pod_group_was_made_all_the_same() -> None:
    story = without_rights().own_pod_group(15.5).mark(16.0, Topic.RIGHTS_BACK, "LWS")
    concluded(story.over(20.0), REFUSED, "allowed", "gang-0-r1")


def test_unmanaged_when_the_leader_started_without_a_pod_group() -> None:
    story = without_rights().bind(16.0, "gang-0").mark(16.0, Topic.RIGHTS_BACK, "LWS")
    concluded(story.over(20.0), REFUSED, "unmanaged", "gang-0 bound without a PodGroup")


def test_silent_when_lws_reported_no_error() -> None:
    reason = "LWS did not report why it creates no PodGroup"
    concluded(recovered(rights_taken()), REFUSED, "silent", reason)


def test_stuck_when_the_group_did_not_come_back_with_the_rights() -> None:
    story = without_rights().mark(16.0, Topic.RIGHTS_BACK, "LWS may again").over(70.0)
    reason = "gang-0 did not become complete when LWS had its permission back"
    concluded(story, REFUSED, "stuck", reason)


def test_lost_when_nothing_was_recreated() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.RIGHTS_TAKEN, "LWS may not").over(20.0)
    concluded(story, REFUSED, "lost", "LWS created no new leader within 10.0 s")


def test_workers_that_may_have_been_bound_before_there_was_room_show_no_lasting_part() -> None:
    story = split().mark(18.0, Topic.ROOM_FOR_ALL, "4")
    for name in pods()[2:]:
        story.tell(18.2, "pod", "MODIFIED", name, node="w1", phase="Running", late=2.3)
    concluded(story.over(25.0), LEADER_FIRST, "placed", "not a lasting part")


def test_every_leader_that_was_created_without_the_rights_must_wait() -> None:
    story = DrillStory().whole(1.0).mark(10.0, Topic.RIGHTS_TAKEN).gone(10.2)
    story.leader(11.0).bind(11.5, "gang-0").delete(13.0, "gang-0").leader(13.5)
    story.mark(15.0, Topic.LWS_ERROR, FORBIDDEN).mark(18.0, Topic.RIGHTS_BACK)
    story.own_pod_group(18.2).workers(18.5).bind(19.0, *pods()).run(19.5, *pods()).over(25.0)
    concluded(story, REFUSED, "unmanaged", "gang-0 bound without a PodGroup")
