"""What a verdict needs besides the expected state: that it was seen how the state came about."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from lockstep import judge
from lockstep.judge import Expectation, RecheckAt, Verdict, limits
from lockstep.judge.drill_marks import Topic
from lockstep.recording.model import WatchState
from tests.unit.lockstep.crowds import crowd, deadlock, taking_turns
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.test_capped import capped, queued
from tests.unit.lockstep.judge.test_crowds import deadlocked, serialized
from tests.unit.lockstep.judge.test_rivals import HIGH, rivalry
from tests.unit.lockstep.judge.test_rivals import preempted as preempted_by
from tests.unit.lockstep.judge.verdicts import accepted, concluded, fault, judged
from tests.unit.lockstep.story import (
    PLUGINS,
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def held_then_unblocked() -> Story:
    """A gang that was held before the recording began, and whose worker is unblocked then."""
    story = Story().node(0.0, "w1", "blocked")
    for name in pods():
        role = "leader" if name == "gang-0" else "worker"
        story.pod(0.0, name, role=role, listed=True)
    story.pod_group(0.0, listed=True)
    return story.node(1.0, "w1")


def test_release_of_pods_that_waited_before_the_recording() -> None:
    story = held_then_unblocked().tell(1.5, "node", "MODIFIED", "w1", cpu="5")
    verdict = accepted(gang_placed(story), expect("released"))
    assert verdict.release_latency_seconds == 1.03


def test_release_whose_binds_were_told_late_has_no_latency() -> None:
    story = held_then_unblocked().bind(3.0, "gang-0")
    for name in pods()[1:]:
        story.tell(3.0, "pod", "MODIFIED", name, late=1.5, node="w1")._report_bind(3.0, name)
    verdict = accepted(story.run(3.1, *pods()), expect("released"))
    assert verdict.release_latency_seconds is None
    assert "gang-0: its binds were not watched, so its bind skew is not known" in verdict.evidence


@pytest.mark.parametrize(("told", "latency"), [(3.0, 0.0), (3.1, None)])
def test_release_that_is_told_with_the_binds_or_after_them_has_no_latency(
    told: float, latency: float | None
) -> None:
    """The version shows that it came before them."""
    story = gang_created(Story().node(0.0, "w1", "blocked")).node(told, "w1")
    verdict = accepted(story.bind(3.0, *pods()).run(3.2, *pods()), expect("released"))
    assert verdict.release_latency_seconds == latency


def test_release_is_that_of_the_pods_that_exist() -> None:
    story = Story().node(0.0, "w1", "blocked").members(0.0, listed=True, node="w1")
    gang_created(story.delete(0.5, *pods())).node(1.5, "w1")
    assert accepted(gang_placed(story), expect("released")).release_latency_seconds == 0.53


def test_release_before_the_recording_is_unproven() -> None:
    story = Story().node(0.0, "w1")
    story.members(0.0, listed=True)
    story.pod_group(0.0, listed=True)
    verdict = fault(gang_placed(story), "released", "unproven", "no worker was unblocked")
    assert not judge.needs_new_pods(story.recording, expect("released"), verdict)


def test_release_after_the_bind_is_none() -> None:
    story = Story().node(0.0, "w1", "blocked").members(0.0, listed=True)
    story.pod_group(0.0, listed=True)
    story = gang_placed(story, at=2.0).node(2.0, "w1")
    fault(story, "released", "unproven", "no worker was unblocked")


def test_release_of_pods_that_were_bound_already_is_unproven() -> None:
    story = Story().node(0.0, "w1", "blocked").members(0.0, listed=True, node="w1", phase="Running")
    story.pod_group(0.0, listed=True)
    words = "gang-0, gang-0-1, gang-0-2, gang-0-3 was bound before the recording began"
    fault(story.node(1.0, "w1"), "released", "unproven", words)


@pytest.mark.parametrize("expected", ["released", "placed", "held"])
def test_gang_that_is_found_partly_bound_is_torn_however_quickly_the_rest_follows(
    expected: str,
) -> None:
    story = held_then_unblocked()
    for name in pods()[:2]:
        story.tell(0.0, "pod", "MODIFIED", name, listed=True, node="w1")
    story.bind(0.05, *pods()[2:]).run(0.1, *pods())
    verdict = fault(story, expected, "torn", "already when the recording began")
    assert not judge.needs_new_pods(story.recording, expect(expected), verdict)


def test_gang_that_is_ending_when_the_recording_begins_is_not_torn() -> None:
    story = Story()
    story.pod(0.0, "gang-0", role="leader", node="w1", phase="Running", deleting=True, listed=True)
    story.pod(0.0, "gang-0-1", node="w1", phase="Running", listed=True)
    story.look(0.05).change(0.1, "gang-0-1", deleting=True).delete(0.2, "gang-0", "gang-0-1")
    accepted(gang_placed(gang_created(story)), expect("placed"))


def test_first_gang_of_a_drill_must_not_be_torn_either() -> None:
    story = DrillStory().leader(1.0)
    story.own_pod_group(1.0).workers(1.1).bind(2.0, "gang-0").bind(5.0, *pods()[1:])
    story.run(5.1, *pods()).mark(9.0, Topic.SCALE, "1").over(12.0)
    fault(story, expect("scaled"), "strayed", "partly bound for 3.0 s")
    story = DrillStory().leader(1.0)
    story.own_pod_group(1.0).workers(1.1).bind(2.0, "gang-0").bind(5.0, *pods()[1:])
    story.run(5.1, *pods()).mark(9.0, Topic.LEADER_KILLED, "gang-0").gone(9.1).whole(10.0)
    fault(story.over(15.0), expect("recreated"), "torn", "partly bound for 3.0 s")


def test_held_gang_that_was_bound_before_needs_new_pods() -> None:
    story = Story().members(0.0, listed=True, node="w1", phase="Running")
    story.pod_group(0.0, listed=True)
    verdict = fault(story, "held", "placed")
    assert judge.needs_new_pods(story.recording, expect("held"), verdict)


def test_held_without_room_for_any_pod_shows_nothing() -> None:
    story = gang_created(Story().node(0.0, "w0", "blocked").node(0.0, "w1", "blocked"))
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    fault(story, "held", "unproven", "no worker has room for a pod of the gang")


def test_held_with_a_cordoned_or_full_worker_only_shows_nothing() -> None:
    story = gang_created(Story().node(0.0, "w0").node(0.0, "w1"))
    story.tell(0.1, "node", "MODIFIED", "w0", unschedulable=True)
    story.tell(0.1, "node", "MODIFIED", "w1", cpu="1500m")
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    fault(story, "held", "unproven", "none of 2 is free")


@pytest.mark.parametrize("owner", [None, "ReplicaSet/second-controller", "StatefulSet/other"])
def test_foreign_pod_with_the_labels_of_a_gang_is_a_mismatch(owner: str | None) -> None:
    story = gang_created(Story()).pod(1.5, "stranger", owner=owner).delete(1.8, "stranger")
    words = f"pod stranger has the labels of gang-0, but belongs to {owner or 'no controller'}"
    fault(gang_placed(story), "placed", "mismatched", words)


def test_bind_that_no_scheduler_reports_is_unproven() -> None:
    story = gang_created(Story())
    story.tell(2.0, "pod", "MODIFIED", "gang-0-1", node="w1")
    gang_placed(story)
    assert judge.assess(story.recording, expect("placed")) == RecheckAt(12.0)
    concluded(story, "placed", "unproven", "gang-0-1 was bound")
    uid = story.uid("pod", "gang-0-1")
    facts: dict[str, Any] = {"reason": "FailedScheduling", "objectUid": uid, "source": "volcano"}
    story.tell(3.0, "event", "ADDED", "e", **facts).look(12.0)
    words = "gang-0-1 was bound, but volcano did not report"
    verdict = fault(story, "placed", "unproven", words)
    assert not judge.needs_new_pods(story.recording, expect("placed"), verdict)


def test_bind_that_another_scheduler_reports_is_unproven() -> None:
    story = control(Story())
    for _, seen in enumerate(story.recording.of("event")):
        seen.facts["source"] = "volcano"  # type: ignore[index]
    story.until(60.0)
    concluded(story, expect_partial(), "unproven", "default-scheduler did not report")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"minMember": 1}, "PodGroup gang-0-r1 has minMember 1, not 4"),
        ({"minResources": {"cpu": "1"}}, "reserves cpu 1, not 4 x 2"),
        ({"queue": "other"}, "PodGroup gang-0-r1 is in queue other, not default"),
        ({"owner": "ConfigMap/x", "ownerUid": "x"}, "belongs to ConfigMap/x"),
        (
            {"owner": None, "ownerUid": None},
            "PodGroup gang-0-r1 belongs to nothing, not to the leader of gang-0",
        ),
    ],
)
@pytest.mark.parametrize("at", [1.5, 2.015])
def test_pod_group_that_was_changed_until_the_last_bind_is_a_mismatch(
    change: dict[str, Any], words: str, at: float
) -> None:
    """Also if it was changed back afterwards."""
    story = gang_created(Story())
    before = {key: dict(story._state["podgroup", "gang-0-r1"])[key] for key in change}
    names = pods()
    story.bind(2.0, names[0]) if at > 2.0 else None
    story.tell(at, "podgroup", "MODIFIED", "gang-0-r1", **change)
    story.bind(2.02, *(names[1:] if at > 2.0 else names))
    story.tell(2.1, "podgroup", "MODIFIED", "gang-0-r1", **before)
    fault(story.run(2.2, *names), "placed", "mismatched", words)


def binding_in_two(at: float = 2.0) -> Story:
    return gang_created(Story()).bind(at, *pods()[:2])


def bound_to_the_last(story: Story, at: float = 2.5) -> Story:
    return story.bind(at, *pods()[2:]).run(at + 0.2, *pods())


def test_pod_group_that_was_wrong_only_between_two_binds_is_a_mismatch() -> None:
    story = binding_in_two().phase(2.1, "", minMember=1).phase(2.2, "", minMember=4)
    fault(bound_to_the_last(story), "placed", "mismatched", "has minMember 1, not 4")


def test_pod_group_that_was_deleted_between_two_binds_is_a_mismatch() -> None:
    story = binding_in_two().tell(2.1, "podgroup", "DELETED", "gang-0-r1").pod_group(2.2)
    words = "PodGroup gang-0-r1 was deleted while gang-0 was bound"
    fault(bound_to_the_last(story), "placed", "mismatched", words)


def test_pod_group_that_came_between_two_binds_is_a_mismatch() -> None:
    story = Story().pod(1.0, "gang-0", role="leader")
    for name in pods()[1:]:
        story.pod(1.1, name)
    story = bound_to_the_last(story.bind(2.0, *pods()[:2]).pod_group(2.1))
    fault(story, "placed", "mismatched", "gang-0 was bound before PodGroup gang-0-r1 existed")


def test_pod_group_is_the_one_that_the_leader_names_in_the_end() -> None:
    story = gang_created(Story(), podGroup=None).change(1.5, *pods(), podGroup="gang-0-r1")
    accepted(gang_placed(story), expect("placed"))


def test_pod_group_that_is_changed_after_the_last_bind_is_another_matter() -> None:
    story = gang_placed(gang_created(Story())).phase(2.3, "Running", queue="other")
    accepted(story, expect("placed"))


def test_pod_group_that_came_after_the_first_bind_is_a_mismatch() -> None:
    story = Story().pod(1.0, "gang-0", role="leader")
    for name in pods()[1:]:
        story.pod(1.1, name)
    story.bind(2.0, *pods()).pod_group(2.1).run(2.2, *pods())
    fault(story, "placed", "mismatched", "gang-0 was bound before PodGroup gang-0-r1 existed")


@pytest.mark.parametrize(
    ("start", "end", "ok"),
    [
        (0.5, 1.9, True),
        (0.5, 2.0, False),
        (0.5, 2.01, False),
        (2.02, 9.0, False),
        (2.03, 9.0, False),
        (2.04, 9.0, True),
    ],
)
def test_pod_groups_must_be_watched_from_the_first_bind_to_the_last(
    start: float, end: float, ok: bool
) -> None:
    story = gang_placed(gang_created(Story()))
    story.watch(start, "cut", "podgroup").watch(end, "relisted", "podgroup")
    assert judged(story, expect("placed")).ok == ok


@pytest.mark.parametrize(("state", "ok"), [("relisted", False), ("resumed", True)])
def test_pod_groups_that_were_not_watched_during_the_binds_prove_nothing(
    state: WatchState, ok: bool
) -> None:
    story = gang_created(Story()).watch(1.9, "cut", "podgroup").watch(2.5, state, "podgroup")
    if ok:
        accepted(gang_placed(story), expect("placed"))
    else:
        fault(gang_placed(story), "placed", "unproven", "PodGroups from 1.9 to 2.5 s was lost")


def test_verdict_has_what_the_scheduler_ran() -> None:
    verdict = accepted(gang_placed(gang_created(Story())), expect("placed"))
    assert verdict.platform is not None
    assert verdict.platform["scheduler"]["plugins"] == PLUGINS


def test_scheduler_that_was_not_asked_after_the_last_bind_is_awaited() -> None:
    story = gang_created(Story())
    story.scheduler = None
    gang_placed(story)
    assert judge.judge(story.recording, expect("placed")) is None
    story.recording.observations[:] = [
        seen for seen in story.recording.observations if seen.kind != "scheduler"
    ]
    story.until(2.1 + limits.EVENTS)
    words = "Volcano's scheduler could not be asked what it runs"
    assert fault(story, "placed", "unproven", words).platform is None


SCHEDULER = Story().scheduler or {}
WITHOUT_GANG = [name for name in PLUGINS if name != "gang"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"withoutGang": 3}, "the plugin gang did not run in 3 of the scheduler's sessions"),
        ({"plugins": WITHOUT_GANG}, "the scheduler runs without the plugin gang"),
        ({"uid": "2"}, "the scheduler was restarted"),
        ({"actions": ["allocate"]}, "the scheduler's actions are allocate, but the stack"),
        (
            {"asked": {**SCHEDULER["asked"], "disabled": ["enableJobReady"]}},
            "the plugin gang is disabled in part: enableJobReady is false",
        ),
        (
            {"plugins": [*PLUGINS, "sla"], "asked": None},
            "the scheduler's plugins changed from gang, predicates, priority to",
        ),
    ],
)
@pytest.mark.parametrize("restored", [False, True])
def test_scheduler_that_changed_while_it_placed_a_gang_is_named(
    answer: dict[str, Any], words: str, restored: bool
) -> None:
    story = gang_created(Story(), at=1.0)
    assert story.scheduler is not None
    before = dict(story.scheduler)
    if answer.get("asked", "") is None:
        for seen in story.recording.of("scheduler"):
            seen.facts["asked"] = None  # type: ignore[index]
    story.scheduler |= answer
    story.look(1.5)
    story.scheduler |= {**before, "withoutGang": answer.get("withoutGang", 0)} if restored else {}
    gang_placed(story).look(2.5)
    fault(story, "placed", "unproven", words)


def test_scheduler_that_had_no_gang_plugin_before_the_pods_is_no_matter() -> None:
    story = Story()
    assert story.scheduler is not None
    story.scheduler["withoutGang"] = 7
    story.look(0.5)
    accepted(gang_placed(gang_created(story)), expect("placed"))


def test_scheduler_that_starts_during_the_recording_is_no_restart() -> None:
    story = gang_created(Story())
    for seen in list(story.recording.of("scheduler")):
        story.recording.observations.remove(seen)
    accepted(gang_placed(story), expect("placed"))


def test_scheduler_of_pods_without_gangs_is_not_asked() -> None:
    story = control(Story())
    for seen in list(story.recording.of("scheduler")):
        story.recording.observations.remove(seen)
    assert accepted(story.until(9.0), expect_partial()).platform is None
    assert accepted(control(Story()).until(9.0), expect_partial()).platform is None


def old(story: Story, *names: str) -> Story:
    """Some pods, or all, existed before the recording began."""
    story.recording.observations[:] = [
        structs.replace(seen, late=None)
        if (seen.kind, seen.change) == ("pod", "ADDED") and (not names or seen.name in names)
        else seen
        for seen in story.recording.observations
    ]
    return story


def unreported(story: Story, *names: str) -> Story:
    """No scheduler reported the binds of some pods."""
    about = {f"Pod/{name}" for name in names}
    story.recording.observations[:] = [
        seen for seen in story.recording.observations if seen.facts.get("object") not in about
    ]
    return story


@pytest.mark.parametrize(
    ("story", "expectation"),
    [
        (old(control(Story()).until(9.0)), expect_partial()),
        (old(control(Story()).until(9.0), "no-gang-x-3"), expect_partial()),
        (old(taking_turns()), serialized()),
        (old(deadlock().until(12.0)), deadlocked()),
        (old(queued()), capped()),
    ],
)
def test_pods_that_existed_before_prove_no_verdict_about_binding(
    story: Story, expectation: Expectation
) -> None:
    fault(story, expectation, "unproven", "existed before the recording began")


def test_old_pods_of_a_group_that_is_not_expected_are_no_matter() -> None:
    story = taking_turns().pod(0.0, "gang-9", 9, role="leader", podGroup=None, listed=True)
    accepted(story, serialized())


def test_release_before_the_last_pod_was_created_is_none() -> None:
    story = Story().node(0.0, "w1", "blocked").pod(1.0, "gang-0", role="leader").pod_group(1.0)
    story.node(1.1, "w1")
    for name in pods()[1:]:
        story.pod(1.2, name)
    fault(gang_placed(story), "released", "unproven", "no worker was unblocked")


def test_release_before_the_pods_were_created_or_between_their_binds_is_none() -> None:
    story = gang_placed(gang_created(Story().node(0.0, "w1", "blocked").node(0.5, "w1")))
    fault(story, "released", "unproven", "no worker was unblocked")
    story = gang_created(Story().node(0.0, "w1", "blocked")).bind(2.0, "gang-0").node(2.1, "w1")
    story.bind(2.2, *pods()[1:]).run(2.3, *pods())
    fault(story, "released", "unproven", "no worker was unblocked")


def test_release_counts_for_old_pods_whose_list_came_after_it() -> None:
    story = Story().node(0.0, "w1", "blocked").node(0.05, "w1").members(0.1, listed=True)
    story.pod_group(0.1, listed=True)
    accepted(gang_placed(story), expect("released"))


def test_foreign_pod_that_is_adopted_later_is_a_mismatch() -> None:
    story = gang_created(Story()).pod(1.5, "stranger", owner=None)
    story.change(1.6, "stranger", owner="StatefulSet/gang-0").delete(1.8, "stranger")
    fault(gang_placed(story), "placed", "mismatched", "pod stranger has the labels of gang-0")


def scaled_to_two(**pod_group: Any) -> DrillStory:
    story = DrillStory().whole(1.0).mark(10.0, Topic.SCALE, "2").whole(11.0, 1, **pod_group)
    return story.mark(20.0, Topic.SCALE, "1").gone(21.0, 1).over(30.0)


def surge(**pod_group: Any) -> DrillStory:
    story = DrillStory().whole(1.0).mark(10.0, Topic.UPDATE_WITH_SURGE, "room for one")
    story.whole(11.0, 1, "r2", **pod_group).gone(12.0).whole(13.0, 0, "r2").gone(14.0, 1, "r2")
    return story.over(30.0)


@pytest.mark.parametrize(
    ("tell", "expected"), [(scaled_to_two, expect("scaled")), (surge, expect("rolled"))]
)
def test_demands_count_for_groups_that_come_and_go(
    tell: Callable[..., DrillStory], expected: Expectation
) -> None:
    accepted(tell(), expected)
    fault(tell(minMember=1), expected, "mismatched", "has minMember 1, not 4")


def test_who_bound_the_pods_counts_for_all_groups_and_rivals() -> None:
    words = "was bound, but volcano did not report"
    story = unreported(scaled_to_two(), "gang-1-2")
    fault(story, expect("scaled"), "unproven", f"gang-1-2 {words}")
    story = unreported(preempted_by(), "high-0-2").until(30.0)
    fault(story, rivalry(), "unproven", f"high-0-2 {words}")


def test_rival_must_be_whole_and_of_the_set_too() -> None:
    preempted = preempted_by().pod(8.0, "stranger", lws="high", owner=None).delete(8.5, "stranger")
    words = "pod stranger has the labels of high-0, but belongs to no controller"
    fault(preempted, rivalry(), "mismatched", words)
    preempted = preempted_by()
    for seen in preempted.recording.of("podgroup"):
        if seen.name == "high-0-r1":
            seen.facts["minMember"] = 1  # type: ignore[index]
    fault(preempted, rivalry(), "mismatched", "PodGroup high-0-r1 has minMember 1, not 4")


def told_late(story: Story, at: float, *names: str) -> Story:
    """The binds of some pods are told four seconds late."""
    story.recording.observations[:] = [
        structs.replace(seen, late=4.0)
        if seen.name in names and seen.facts.get("node") and seen.at >= at
        else seen
        for seen in story.recording.observations
    ]
    return story


def test_late_binds_count_for_all_groups_and_rivals() -> None:
    story = told_late(scaled_to_two(), 11.0, *pods(1))
    fault(story, expect("scaled"), "unproven", "the pods of gang-1 may have been bound in up to 4")
    story = told_late(preempted_by(), 7.0, *HIGH)
    fault(story, rivalry(), "unproven", "the pods of high-0 may have been bound in up to 4")


def running_before() -> DrillStory:
    """A group that was bound before, a worker of which is replaced early."""
    story = DrillStory()
    for name in pods():
        role = "leader" if name == "gang-0" else "worker"
        facts: dict[str, Any] = {"role": role, "revision": "r1", "node": "w1", "phase": "Running"}
        story.pod(0.0, name, **facts, listed=True)
    unreported(story, *pods())
    return story.own_pod_group(0.0, listed=True)


def test_how_a_group_was_bound_that_ran_before_is_no_matter() -> None:
    story = running_before()
    assert story.scheduler is not None
    story.scheduler["withoutGang"] = 3
    story.look(1.0).delete(2.0, "gang-0-3").pod(2.1, "gang-0-3", revision="r1")
    story.bind(2.2, "gang-0-3").run(2.3, "gang-0-3").mark(10.0, Topic.LEADER_KILLED, "gang-0")
    accepted(story.gone(10.1).whole(11.0).over(20.0), expect("recreated"))


def test_drill_after_which_no_pod_is_new_needs_no_scheduler_before_its_end() -> None:
    accepted(running_before().mark(5.0, Topic.SCALE, "1").over(9.0).look(9.0), expect("scaled"))


def test_scheduler_counts_from_the_first_pod_of_a_drill() -> None:
    story = DrillStory().whole(1.0)
    assert story.scheduler is not None
    story.scheduler["withoutGang"] = 3
    story.look(5.0).mark(10.0, Topic.LEADER_KILLED, "gang-0").gone(10.1).whole(11.0).over(20.0)
    fault(story, expect("recreated"), "unproven", "the plugin gang did not run in 3")


def test_scheduler_counts_until_it_last_refused_a_gang() -> None:
    story = gang_created(Story()).refuse(2.0, 1).refuse(3.0, 2)
    story.scheduler = None
    story.refuse(4.0, 3).warn(5.0, "Pod/gang-0", "Failed", "no matter")
    assert judge.assess(story.recording, expect("held")) == RecheckAt(14.0)
    story.scheduler = Story().scheduler
    story.look(4.5)
    story.scheduler = None
    accepted(story.warn(6.0, "Pod/gang-0", "Failing", "no matter"), expect("held"))


def test_scheduler_of_old_pods_counts_from_the_beginning() -> None:
    story = Story().node(0.0, "w0")
    assert story.scheduler is not None
    story.scheduler["withoutGang"] = 3
    story.look(0.3).members(0.5, listed=True).pod_group(0.5, listed=True)
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    story.look(5.5)
    fault(story, "held", "unproven", "the plugin gang did not run in 3")


def test_released_expected_but_held_for_long() -> None:
    story = gang_created(Story().node(0.0, "w1", "blocked"))
    for second in range(1, 26):
        story.refuse(1.0 + second, second)
    fault(story, "released", "held", "1 Insufficient cpu")


def test_partial_expected_but_a_pod_group_holds_all_pods() -> None:
    story = control(Story(), bound=0, refused=4).pod_group(1.0, name="x", workload=None)
    for index in range(4):
        story.change(1.3, f"no-gang-x-{index}", podGroup="x")
    for second in range(1, 26):
        story.refuse(1.0 + second, second, group="x")
    fault(story, expect_partial(), "mismatched", "PodGroup x manages no-gang")


def test_pods_of_another_scheduler_prove_nothing_however_well_they_were_bound() -> None:
    story = taking_turns(scheduler="default-scheduler")
    words = "gang-0 asked for default-scheduler, not for volcano"
    fault(story, serialized(), "mismatched", words)


def recreated_and_refused(story: Story, at: float) -> Story:
    story.delete(at, *pods()).tell(at, "podgroup", "DELETED", "gang-0-r1")
    gang_created(story, at + 0.5)
    for second in range(1, 5):
        story.refuse(at + 0.5 + second, second)
    return story


def test_gang_that_was_bound_before_it_was_refused_is_not_held() -> None:
    part = gang_created(Story().node(0.0, "w0")).bind(2.0, *pods()[:2])
    words = "gang-0, gang-0-1 was bound before the gang was held"
    fault(recreated_and_refused(part, 3.9), "held", "torn", words)
    whole = gang_placed(gang_created(Story().node(0.0, "w0")))
    fault(recreated_and_refused(whole, 9.0), "held", "placed", "was bound before")
    old = Story().node(0.0, "w0").members(0.0, listed=True, node="w1", phase="Running")
    accepted(recreated_and_refused(old.pod_group(0.0, listed=True), 1.0), expect("held"))


@pytest.mark.parametrize(("until", "is_proof"), [(3.5, True), (3.6, False)])
def test_pods_may_have_come_and_gone_while_their_watch_had_a_gap(
    until: float, is_proof: bool
) -> None:
    story = gang_created(Story()).watch(1.5, "cut").watch(until, "relisted")
    gang_placed(story, 4.0)
    if is_proof:
        accepted(story, expect("placed"))
    else:
        words = "what happened to the pods from 1.5 to 3.6 s was lost"
        fault(story, "placed", "unproven", words)


@pytest.mark.parametrize(("kept", "is_proof"), [(45.0, True), (45.1, False)])
@pytest.mark.parametrize("ends", [True, False])
def test_gang_that_ends_may_not_leave_a_part(kept: float, is_proof: bool, ends: bool) -> None:
    story = gang_placed(crowd(2), 2.0, 0).delete(3.0, "gang-0-1")
    gang_placed(story, 4.0, 1).delete(5.0, *pods(1)).until(3.0 + kept)
    if ends:
        story.delete(3.0 + kept, "gang-0", "gang-0-2", "gang-0-3")
        story.tell(3.0 + kept, "podgroup", "DELETED", "gang-0-r1")
        gang_created(story, 3.0 + kept)
    gang_placed(gang_created(story, 5.0, 1), 5.5, 1)
    verdict = judge.assess(story.look(3.0 + kept).recording, serialized(2))
    what = f"gang-0 lost a pod and was partly bound for {kept:.1f} s after"
    assert (isinstance(verdict, Verdict) and what in verdict.reason) != is_proof


def test_all_pods_of_a_gang_and_no_others_name_its_pod_group() -> None:
    story = gang_created(Story()).change(1.6, "gang-0-3", podGroup="other")
    words = "gang-0-3 names PodGroup other, not gang-0-r1 of its leader"
    fault(gang_placed(story), "placed", "mismatched", words)
    story = gang_created(Story()).pod(1.5, "x", lws="other", podGroup="gang-0-r1").bind(1.9, "x")
    words = "pod x, which is not of LeaderWorkerSet/gang, names PodGroup gang-0-r1"
    fault(gang_placed(story), "placed", "mismatched", words)


def test_pods_that_replace_others_may_be_bound_under_another_pod_group() -> None:
    story = gang_created(Story()).bind(2.0, *pods()).delete(2.5, "gang-0-2")
    story.phase(2.6, "Inqueue", minMember=3).pod(2.7, "gang-0-2", podGroup="other")
    story.bind(3.0, "gang-0-2").phase(3.1, "Inqueue", minMember=4)
    accepted(story.run(3.5, *pods()), expect("placed"))


def test_pods_of_others_may_name_other_pod_groups_or_none() -> None:
    story = gang_created(Story()).pod(1.5, "x", lws="other").pod(1.5, "y", lws="y", podGroup=None)
    accepted(gang_placed(story), expect("placed"))
    story = control(Story()).pod(0.5, "y", lws="y", podGroup=None)
    accepted(story.until(9.0), expect_partial())


@pytest.mark.parametrize("late", ["x", "gang-0-3"])
def test_pod_group_that_a_pod_names_later_counts(late: str) -> None:
    story = gang_created(Story(), podGroup=None).change(1.2, *pods(), podGroup="gang-0-r1")
    story.pod(1.3, "x", lws="other", podGroup=None).change(1.4, "x", podGroup="gang-0-r1")
    fault(gang_placed(story), "placed", "mismatched", "pod x")


def test_gang_that_was_bound_and_never_ran_was_not_held() -> None:
    story = gang_created(Story().node(0.0, "w0")).bind(2.0, *pods())
    fault(recreated_and_refused(story, 3.0), "held", "placed")


def test_group_that_is_not_expected_must_not_have_been_bound_either() -> None:
    story = gang_placed(gang_created(Story().node(0.0, "w0"), group=1), 2.0, 1)
    story.delete(3.0, *pods(1)).tell(3.0, "podgroup", "DELETED", "gang-1-r1")
    gang_created(story, 4.0)
    for second in range(5, 9):
        story.refuse(second, second)
    fault(story, "held", "placed", "gang-1, gang-1-1, gang-1-2, gang-1-3 was bound before")


def test_demands_count_for_a_gang_that_ended_before_it_ran() -> None:
    story = gang_created(Story()).phase(1.5, "Inqueue", minMember=1).bind(2.0, *pods())
    story.delete(3.0, *pods()).tell(3.0, "podgroup", "DELETED", "gang-0-r1")
    gang_placed(gang_created(story, 4.0), 5.0)
    fault(story, "placed", "mismatched", "PodGroup gang-0-r1 has minMember 1, not 4")


def test_replaced_pods_of_a_gang_that_never_ran_may_be_bound_under_another_pod_group() -> None:
    story = gang_created(Story()).bind(2.0, *pods()).delete(2.5, "gang-0-2")
    story.pod(2.7, "gang-0-2", podGroup="other").bind(2.8, "gang-0-2").delete(3.0, *pods())
    story.tell(3.0, "podgroup", "DELETED", "gang-0-r1")
    accepted(gang_placed(gang_created(story, 4.0), 5.0), expect("placed"))


def test_scheduler_must_be_known_before_the_first_of_old_pods_is_bound() -> None:
    story = held_then_unblocked()
    seen = story.recording.observations
    seen[:] = [one for one in seen if one.kind != "scheduler"]
    answers = {**(story.scheduler or {}), "uid": "pod-uid 4000000000"}
    story.scheduler = None
    story.bind(2.0, "gang-0")
    story.scheduler = answers
    story.look(2.5).bind(2.6, *pods()[1:]).run(3.0, *pods()).look(4.0)
    fault(story, "released", "unproven", "the scheduler was started after the recording began")
