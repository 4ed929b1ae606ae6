"""A recording becomes marks on a time axis, and nothing is lost or doubled."""

from typing import Any

from lockstep.recording import timeline
from tests.unit.lockstep.story import Story, gang_created, gang_placed


def pod(story: Story, name: str = "gang-0") -> dict[str, Any]:
    (found,) = (one for one in timeline.build(story.recording)["pods"] if one["name"] == name)
    return dict(found)


def marks(story: Story) -> list[tuple[float, str]]:
    return [(mark["at"], mark["what"]) for mark in pod(story)["marks"]]


def test_pod_is_created_bound_running() -> None:
    story = gang_placed(gang_created(Story()))
    assert marks(story) == [(1.0, "created"), (2.0, "bound"), (2.2, "running")]
    assert pod(story)["marks"][1]["node"] == "w1"
    assert (pod(story)["group"], pod(story)["role"]) == ("gang-0", "leader")


def test_pod_older_than_the_recording_is_marked() -> None:
    story = Story().tell(0.1, "pod", "ADDED", "gang-0", listed=True, node="w1", phase="Pending")
    assert [mark.get("before") for mark in pod(story)["marks"]] == [True, True]
    story.run(0.5, "gang-0")
    assert pod(story)["marks"][-1] == {"at": 0.5, "what": "running"}


def test_pod_that_was_listed_after_a_cut_came_during_it() -> None:
    story = Story().watch(2.0, "cut", "node").watch(3.0, "cut")
    story.tell(3.5, "pod", "ADDED", "gang-0", listed=True, node=None, phase="Pending")
    story.tell(3.6, "node", "ADDED", "w1", listed=True, taints=[])
    assert pod(story)["marks"] == [{"at": 3.5, "what": "created", "listed": True}]


def test_taint_and_phase_older_than_the_recording_are_marked() -> None:
    blocking = [{"key": "ours", "value": "", "effect": "NoSchedule"}]
    story = Story().tell(0.1, "node", "ADDED", "w1", listed=True, taints=blocking)
    story.tell(0.2, "podgroup", "ADDED", "g", listed=True, phase="Inqueue").phase(
        1.0, "Running", "g"
    )
    told = timeline.build(story.recording)
    assert told["taints"][0]["before"] is True
    assert [phase.get("before") for phase in told["podGroups"][0]["phases"]] == [True, None]


def test_pod_counts_as_deleted_when_it_is_terminating() -> None:
    story = Story().pod(1.0, "gang-0").tell(2.0, "pod", "MODIFIED", "gang-0", deleting=True)
    story.delete(5.0, "gang-0")
    assert marks(story) == [(1.0, "created"), (2.0, "deleted")]


def test_pod_that_finishes_is_finished() -> None:
    story = Story().pod(1.0, "gang-0").tell(2.0, "pod", "MODIFIED", "gang-0", phase="Failed")
    assert marks(story) == [(1.0, "created"), (2.0, "finished")]


def test_recreated_pod_is_another_pod() -> None:
    story = Story().pod(1.0, "gang-0").delete(2.0, "gang-0").pod(3.0, "gang-0")
    pods = timeline.build(story.recording)["pods"]
    assert [one["name"] for one in pods] == ["gang-0", "gang-0"]
    assert len({one["uid"] for one in pods}) == 2


def test_pod_group_shows_each_phase_once() -> None:
    story = gang_created(Story()).phase(2.0, "Inqueue").phase(2.5, "Inqueue").phase(3.0, "Running")
    story.tell(4.0, "podgroup", "DELETED", "gang-0-r1")
    (group,) = timeline.build(story.recording)["podGroups"]
    phases = ["Pending", "Inqueue", "Running", "Deleted"]
    assert [phase["phase"] for phase in group["phases"]] == phases
    assert (group["name"], group["group"], group["minMember"]) == ("gang-0-r1", "gang-0", 4)
    assert group["minResources"] == {"cpu": "8", "memory": "16Gi"}


def test_taints_are_set_and_removed() -> None:
    story = Story().node(0.1, "w1").node(1.0, "w1", "ours").node(2.0, "w1", "ours", "other")
    story.node(3.0, "w1", "other")
    told = [(t["at"], t["key"], t["change"]) for t in timeline.build(story.recording)["taints"]]
    assert told == [(1.0, "ours", "set"), (2.0, "other", "set"), (3.0, "ours", "removed")]


def test_taint_that_only_advises_is_left_out() -> None:
    soft = [{"key": "soft", "value": "", "effect": "PreferNoSchedule"}]
    story = Story().tell(0.1, "node", "ADDED", "w1", taints=soft)
    assert timeline.build(story.recording)["taints"] == []


def test_deleted_node_has_no_taints() -> None:
    story = Story().node(0.1, "w1", "ours").tell(1.0, "node", "DELETED", "w1")
    changes = [taint["change"] for taint in timeline.build(story.recording)["taints"]]
    assert changes == ["set", "removed"]


def test_repeated_event_is_counted_not_repeated() -> None:
    story = gang_created(Story())
    for cycle in (1, 2, 3):
        story.refuse(1.0 + cycle, cycle)
    (event,) = timeline.build(story.recording)["events"]
    assert (event["at"], event["count"], event["reason"]) == (2.0, 3, "Unschedulable")
    assert event["object"] == "PodGroup/gang-0-r1"


def test_expired_event_is_left_out() -> None:
    story = Story().tell(
        9.0, "event", "DELETED", "e", reason="Old", object="Pod/x", message="m", count=1
    )
    assert timeline.build(story.recording)["events"] == []


def test_step_of_a_drill_is_an_event_in_its_place() -> None:
    story = Story().tell(
        1.0, "event", "ADDED", "a", reason="Early", object="Pod/x", message="m", count=1
    )
    story.recording.mark("evict", "gang-0", 2.0, "LeaderWorkerSet/gang")
    story.tell(3.0, "event", "ADDED", "b", reason="Late", object="Pod/x", message="m", count=1)
    early, step, late = timeline.build(story.recording)["events"]
    assert (early["reason"], late["reason"]) == ("Early", "Late")
    assert step == {
        "at": 2.0,
        "reason": "LockstepDrill",
        "object": "LeaderWorkerSet/gang",
        "message": "evict: gang-0",
        "count": 1,
    }


def test_workers_include_a_deleted_node() -> None:
    story = Story().node(0.1, "w2").node(0.1, "w1", "ours")
    story.tell(1.0, "node", "DELETED", "w2")
    assert timeline.workers(story.recording) == [
        {"name": "w1", "cpu": "4", "memory": "8Gi"},
        {"name": "w2", "cpu": "4", "memory": "8Gi"},
    ]
