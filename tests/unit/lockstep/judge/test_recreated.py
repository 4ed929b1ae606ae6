"""`recreated`: after each incident a complete new group under a PodGroup of its leader."""

import pytest

from lockstep import judge
from lockstep.judge import RecheckAt
from lockstep.judge.drill_marks import Topic
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.verdicts import accepted, concluded, fault
from tests.unit.lockstep.story import expect, pods

EXPECTATION = expect("recreated")


def struck() -> DrillStory:
    """Three incidents; the group is back a second and a half after each."""
    story = DrillStory().whole(1.0)
    for at, topic in (
        (10.0, Topic.LEADER_KILLED),
        (20.0, Topic.WORKER_KILLED),
        (30.0, Topic.NODE_LOST),
    ):
        story.mark(at, topic, "somebody").gone(at + 0.1).whole(at + 1.0)
    return story


def leader_killed() -> DrillStory:
    return DrillStory().whole(1.0).mark(10.0, Topic.LEADER_KILLED, "gang-0")


def test_recreated_after_each_incident_with_its_time() -> None:
    verdict = accepted(struck().over(40.0), EXPECTATION)
    assert verdict.observed == "recreated"
    assert verdict.measures == {
        "leaderRecoverySeconds": 1.5,
        "workerRecoverySeconds": 1.5,
        "nodeRecoverySeconds": 1.5,
    }
    assert verdict.bind_skew_seconds == 0.03
    back = "(somebody): gang-0 came back in 1.5 s with 4 new pods, bound in one burst of 0.030 s"
    assert verdict.evidence == [
        f"{topic} {back} under a PodGroup of its new leader"
        for topic in (Topic.LEADER_KILLED, Topic.WORKER_KILLED, Topic.NODE_LOST)
    ]


def test_the_slowest_group_and_burst_count() -> None:
    story = DrillStory().whole(1.0).whole(1.0, 1).mark(10.0, Topic.LEADER_KILLED, "gang-0")
    story.gone(10.01).whole(10.25).mark(20.0, Topic.NODE_LOST, "w1").gone(20.1).gone(20.1, 1)
    story.leader(21.0).own_pod_group(21.0).workers(21.0).bind(21.5, *pods()[:3])
    story.whole(21.5, 1).bind(23.5, "gang-0-3").run(23.6, *pods())
    story.mark(30.0, Topic.WORKER_KILLED, "gang-0-1").gone(30.01).whole(30.3).over(40.0)
    verdict = accepted(story, expect("recreated", groups=2))
    assert verdict.measures == {
        "leaderRecoverySeconds": 0.75,
        "nodeRecoverySeconds": 3.6,
        "workerRecoverySeconds": 0.8,
    }
    assert verdict.bind_skew_seconds == 2.0
    assert verdict.reason == (
        "the group came back complete after each of 3 incidents, in 3.6 s at most"
    )


def test_recreated_waits_for_the_end_of_the_drill() -> None:
    assert judge.assess(struck().recording, EXPECTATION) is None
    story = struck().over(40.0).until(39.0)
    assert judge.assess(story.recording, EXPECTATION) == RecheckAt(40.0)
    accepted(story.until(40.0), EXPECTATION)


def test_a_drill_that_gave_up_is_judged_at_once() -> None:
    fault(leader_killed().gone(10.1).mark(40.0, Topic.FAILED, "no group"), EXPECTATION, "lost")


def test_incidents_of_one_kind_are_counted_each() -> None:
    story = leader_killed().gone(10.1).whole(11.0).mark(20.0, Topic.LEADER_KILLED, "gang-0")
    verdict = accepted(story.gone(20.1).whole(21.0).over(30.0), EXPECTATION)
    assert "after each of 2 incidents" in verdict.reason


def test_a_leader_that_was_made_twice_is_told_and_accepted() -> None:
    story = leader_killed().gone(10.1)
    story.leader(11.0).tell(11.2, "pod", "DELETED", "gang-0")
    verdict = accepted(story.whole(12.0).over(20.0), EXPECTATION)
    assert verdict.measures["leaderRecoverySeconds"] == 2.5
    assert "2 leaders (see lws#804)" in verdict.evidence[0]


def test_kept_when_only_the_killed_worker_came_back() -> None:
    story = DrillStory().whole(1.0).delete(9.0, "gang-0-3").pod(10.0, "gang-0-3", revision="r1")
    story.mark(10.0, Topic.WORKER_KILLED, "gang-0-1").delete(10.1, "gang-0-1")
    story.pod(10.2, "gang-0-1", revision="r1").change(11.0, "gang-0", ready=True)
    reason = (
        "after worker killed, only gang-0-1 was recreated; gang-0, gang-0-2, gang-0-3 stayed "
        "(lws#998)"
    )
    concluded(story.over(20.0), EXPECTATION, "kept", reason)


def test_a_new_leader_beside_the_old_workers_is_not_kept() -> None:
    story = leader_killed().delete(10.1, "gang-0").leader(11.0)
    concluded(story.over(20.0), EXPECTATION, "orphaned")


def test_kept_when_a_pod_goes_as_the_drill_ends() -> None:
    story = leader_killed().change(20.0, "gang-0-1", deleting=True).over(20.0)
    reason = "only nothing was recreated; gang-0, gang-0-2, gang-0-3 stayed"
    concluded(story, EXPECTATION, "kept", reason)


def test_orphaned_when_the_old_pod_group_was_taken_for_the_new_one() -> None:
    story = DrillStory().whole(1.0).gone(4.0).whole(5.0).mark(10.0, Topic.LEADER_KILLED, "gang-0")
    story.gone(10.1, revision=None)
    story.leader(10.3).tell(10.4, "podgroup", "DELETED", "gang-0-r1")
    reason = (
        "after leader killed, the new leader gang-0 owns no PodGroup; gang-0-r1 of the previous "
        "leader still existed when it was created (lws#1054)"
    )
    concluded(story.until(45.0), EXPECTATION, "orphaned", reason)


def test_orphaned_without_that_race_is_not_blamed_on_it() -> None:
    story = leader_killed().pod_group(10.0, lws="other").gone(10.1).leader(11.0)
    story.pod_group(11.0, owner=None, ownerUid=None)
    story.tell(11.1, "podgroup", "MODIFIED", "gang-0-r1", group=None)
    verdict = concluded(story.until(45.0), EXPECTATION, "orphaned")
    assert "lws#1054" not in verdict.reason
    assert "does LWS have permission to create PodGroups?" in verdict.reason


def test_a_complete_group_under_another_leaders_pod_group_is_orphaned() -> None:
    story = leader_killed().gone(10.1, revision=None).leader(11.0).workers(11.1)
    story.bind(11.3, *pods()).run(11.5, *pods())
    concluded(story.over(20.0), EXPECTATION, "orphaned")


def test_lost_when_no_leader_comes() -> None:
    reason = "after leader killed, gang-0 got no new leader"
    concluded(leader_killed().gone(10.1).until(45.0), EXPECTATION, "lost", reason)
    story = DrillStory().leader(10.0).workers(10.0).mark(10.0, Topic.LEADER_KILLED, "gang-0")
    concluded(story.gone(11.0, revision=None).until(45.0), EXPECTATION, "lost", reason)


def test_lost_when_the_new_group_is_incomplete_or_loses_a_pod_again() -> None:
    reason = "after leader killed, gang-0 did not become complete again"
    waiting = leader_killed().gone(10.1).leader(45.0).own_pod_group(45.0).over(45.0)
    assert concluded(waiting, EXPECTATION, "lost").reason.endswith(reason)
    story = leader_killed().gone(10.1).whole(11.0).delete(15.0, "gang-0-2")
    concluded(story.over(45.0), EXPECTATION, "lost", reason)


def test_torn_when_the_new_group_is_bound_in_part_for_long() -> None:
    story = leader_killed().gone(10.1).leader(11.0).own_pod_group(11.0).workers(11.1)
    for at, name in zip((11.3, 11.4, 11.5, 15.0), pods(), strict=True):
        story.bind(at, name).run(at + 0.1, name)
    concluded(
        story.over(20.0),
        EXPECTATION,
        "torn",
        "after leader killed, gang-0 was partly bound for 3.7 s",
    )


def test_torn_when_the_first_group_was_found_partly_bound() -> None:
    story = DrillStory().pod(0.0, "gang-0", role="leader", revision="r1", node="w1", listed=True)
    story.own_pod_group(0.0, listed=True)
    for name in pods()[1:]:
        story.pod(0.0, name, revision="r1", listed=True)
    story.bind(0.1, *pods()[1:]).run(0.2, *pods()).mark(10.0, Topic.LEADER_KILLED, "gang-0")
    fault(
        story.gone(10.1).whole(11.0).over(20.0),
        EXPECTATION,
        "torn",
        "gang-0 was partly bound for 0.1 s",
    )


def test_a_group_that_is_torn_down_slowly_is_not_torn() -> None:
    story = leader_killed()
    for index, name in enumerate(pods()):
        story.delete(10.1 + index, name)  # a second each, as a busy node would
    story.tell(13.5, "podgroup", "DELETED", "gang-0-r1")
    accepted(story.whole(14.0).over(20.0), EXPECTATION)


def test_untouched_when_an_incident_hit_no_pod() -> None:
    story = DrillStory().whole(1.0).change(10.0, "gang-0-1", deleting=True).whole(2.0, 1)
    story.mark(10.0, Topic.NODE_LOST, "w9").gone(11.0, 1).over(20.0)  # of a group not expected
    concluded(story, EXPECTATION, "untouched", "node lost (w9), but no group lost a pod")


def test_a_second_pod_group_is_one_too_many() -> None:
    story = struck().pod_group(35.0, name="gang-0-old", ownerUid="another-leader").over(40.0)
    concluded(story, EXPECTATION, "mismatched", "unexpected PodGroup gang-0-old")


@pytest.mark.parametrize("gave_up", [True, False])
def test_unmanaged_when_the_drill_found_no_pod_group_to_start_from(gave_up: bool) -> None:
    story = DrillStory().leader(1.0).workers(1.1)
    story.bind(2.0, *pods()).run(2.1, *pods())
    if gave_up:
        story.mark(60.0, Topic.FAILED, "no whole group")
    concluded(story.until(62.0), EXPECTATION, "unmanaged")


def test_drill_that_did_not_begin_is_unmanaged_only_if_all_expected_gangs_run() -> None:
    story = DrillStory().leader(1.0).workers(1.1).leader(1.0, 1)
    story.bind(2.0, *pods()).run(2.1, *pods()).until(62.0)
    concluded(story, EXPECTATION, "unmanaged")
    concluded(story, expect("recreated", groups=2), "partial")


def test_orphaned_when_the_pod_group_is_taken_from_the_new_leader() -> None:
    story = struck().tell(
        35.0, "podgroup", "MODIFIED", "gang-0-r1", owner="ConfigMap/x", ownerUid="x"
    )
    concluded(story.over(40.0), EXPECTATION, "orphaned")


def test_worker_that_is_replaced_before_its_group_is_recreated_does_not_tear_it() -> None:
    story = leader_killed().delete(10.1, *pods()).pod(10.2, "gang-0-2").bind(10.3, "gang-0-2")
    story.delete(13.0, "gang-0-2").tell(13.0, "podgroup", "DELETED", "gang-0-r1")
    accepted(story.whole(13.5).over(20.0), EXPECTATION)
