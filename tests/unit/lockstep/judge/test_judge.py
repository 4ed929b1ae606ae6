"""Every verdict from a good recording."""

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lockstep import judge
from lockstep.errors import LockstepError
from lockstep.judge import Expectation, RecheckAt
from tests.unit.lockstep.judge.verdicts import accepted, fault, judged
from tests.unit.lockstep.story import (
    Story,
    control,
    events_ran_out,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)

HELD = expect("held")


def test_placed_needs_every_pod_running() -> None:
    story = gang_created(Story())
    story.bind(2.0, *pods())
    assert judge.judge(story.recording, expect("placed")) is None
    story.run(2.2, *pods())
    verdict = accepted(story, expect("placed"))
    assert verdict.observed == "placed"
    assert (verdict.bound, verdict.size) == (4, 4)


def test_placed_reports_bind_skew_and_the_pod_group() -> None:
    story = Story().node(0.0, "w1", "blocked").pod_group(1.01, minMember=1).members(1.1)
    gang_placed(story.node(1.15, "w1"))
    story.phase(1.2, "").phase(1.50049, "Inqueue").phase(1.7, "Inqueue", minMember=4)
    story.phase(2.5, "Running")
    verdict = judged(story, expect("placed"))
    assert verdict.bind_skew_seconds == 0.03
    assert verdict.release_latency_seconds is None
    assert verdict.pod_group == {
        "name": "gang-0-r1",
        "minMember": 4,
        "minResources": {"cpu": "8", "memory": "16Gi"},
        "phases": [
            {"at": 1.01, "phase": "Pending"},
            {"at": 1.5, "phase": "Inqueue"},
            {"at": 2.5, "phase": "Running"},
        ],
    }


def test_placed_compares_resources_as_quantities() -> None:
    story = Story()
    gang_created(story)
    story.tell(1.2, "podgroup", "MODIFIED", "gang-0-r1", minResources={"cpu": "8000m"})
    accepted(gang_placed(story), expect("placed", requests={"cpu": "2"}))


def test_placed_with_several_groups_waits_for_all_and_reports_the_longest_skew() -> None:
    story = gang_placed(gang_created(Story()))
    gang_created(story, at=1.5, group=1)
    assert judge.judge(story.recording, expect("placed", groups=2)) is None
    gang_placed(story, at=3.0, group=1)
    story.tell(3.3, "pod", "MODIFIED", "gang-1-3")
    verdict = accepted(story, expect("placed", groups=2))
    assert (verdict.bound, verdict.size) == (8, 8)
    assert verdict.bind_skew_seconds == 0.03


def test_pods_that_were_bound_before_the_recording_prove_nothing() -> None:
    story = Story().members(0.0, node="w1", phase="Running", listed=True)
    story.pod_group(0.0, listed=True)
    verdict = fault(story, "placed", "unproven", "gang-0, gang-0-1", "existed before the recording")
    assert verdict.bind_skew_seconds is None
    assert judge.needs_new_pods(story.recording, expect("placed"), verdict)


def test_held_needs_several_cycles_that_refused_the_whole_gang() -> None:
    story = gang_created(Story()).refuse(2.0, 1).refuse(3.0, 2).until(9.0)
    assert judge.judge(story.recording, expect("held")) is None
    verdict = accepted(story.refuse(4.0, 3), expect("held"))
    assert verdict.observed == "held"
    assert verdict.bound == 0
    assert verdict.reason == (
        "0 of 4 pods bound in 9.0 s; PodGroup gang-0-r1 was Unschedulable in 3 scheduling cycles: "
        "4/4 tasks in gang unschedulable: 1 Insufficient cpu"
    )
    assert verdict.bind_skew_seconds is None


def test_held_does_not_count_cycles_before_the_gang_was_there() -> None:
    story = Story().pod(1.0, "gang-0", role="leader").pod_group(1.0)
    for second in range(1, 6):
        story.refuse(1.0 + second, second, tasks=1)
    for index in (1, 2, 3):
        story.pod(6.5, f"gang-0-{index}")
    for second in range(6, 10):
        story.refuse(1.0 + second, second, tasks=1)  # events of before, told late
    story.until(20.0)
    assert judge.judge(story.recording, expect("held")) is None


def test_held_does_not_count_cycles_that_were_not_watched() -> None:
    story = gang_created(Story()).refuse(2.0, 1).refuse(9.0, 8, listed=True).until(10.0)
    assert judge.judge(story.recording, expect("held")) is None


def test_held_does_not_count_cycles_before_the_last_taint_change() -> None:
    story = gang_created(Story().node(0.0, "w1", "blocked").node(0.0, "w2"))
    story.refuse(2.0, 1).refuse(3.0, 2).refuse(4.0, 3).node(4.5, "w2", "blocked").until(9.0)
    assert judge.judge(story.recording, expect("held")) is None
    story.refuse(5.0, 4).refuse(6.0, 5).refuse(7.0, 6)
    accepted(story, expect("held"))


def test_held_counts_cycles_by_the_count_of_an_event_whatever_volcano_says() -> None:
    story = gang_created(Story().node(0.0, "w0"))
    uid = story.uid("podgroup", "gang-0-r1")
    event: dict[str, Any] = {
        "reason": "Unschedulable",
        "objectUid": uid,
        "message": "cluster is overused",
    }
    story.tell(1.15, "event", "ADDED", "e", count=2, **event)  # before the last pod was created
    assert judge.judge(story.tell(2.0, "event", "MODIFIED", "e", count=4).recording, HELD) is None
    story.tell(2.5, "event", "MODIFIED", "e", count=4).tell(3.0, "event", "MODIFIED", "e", count=1)
    assert judge.judge(story.recording, HELD) is None
    accepted(story.tell(4.0, "event", "MODIFIED", "e", count=2), HELD)


UNSCHEDULABLE = {"type": "Unschedulable", "status": "True"}


@pytest.mark.parametrize(
    ("count", "conditions", "is_held"),
    [
        (20, [UNSCHEDULABLE], True),
        (20, [{"type": "Scheduled", "status": "False"}, UNSCHEDULABLE], True),
        (19, [UNSCHEDULABLE], False),
        (20, [{"type": "Scheduled", "status": "True"}], False),
        (20, [{"type": "Unschedulable", "status": "False"}], False),
        (20, None, False),
    ],
)
def test_held_without_events_needs_twenty_and_the_condition(
    count: int, conditions: list[dict[str, str]] | None, is_held: bool
) -> None:
    story = Story().members(0.0, listed=True).pod_group(0.0, conditions=[], listed=True)
    story.tell(0.0, "podgroup", "MODIFIED", "gang-0-r1", conditions=conditions)
    story.refuse(0.0, 1, listed=True).refuse(0.0, count, listed=True)
    assert (judge.judge(story.look(9.0).recording, HELD) is not None) == is_held


def test_held_again_when_volcano_no_longer_writes_events() -> None:
    story = events_ran_out().until(1.0)
    assert judge.assess(story.recording, expect("held")) == RecheckAt(3.0)
    assert judge.assess(story.until(3.5).recording, expect("held")) == RecheckAt(4.5)
    verdict = accepted(story.look(3.5), expect("held"))
    words = "PodGroup gang-0-r1 stayed Unschedulable after many earlier cycles: 4/4 tasks"
    assert any(words in fact for fact in verdict.evidence)
    story = events_ran_out().node(0.0, "w5").node(2.0, "w5", "blocked").phase(4.0, "Pending")
    assert judge.assess(story.until(4.5).recording, expect("held")) == RecheckAt(5.0)


def two_refused() -> Story:
    story = gang_created(gang_created(Story()), group=1)
    for second in range(1, 4):
        story.refuse(1.0 + second, second).refuse(1.0 + second, second, group="gang-1-r1")
    return story


@pytest.mark.parametrize("groups", [1, 2])
def test_held_needs_every_gang_whole_and_not_bound(groups: int) -> None:
    wanted = expect("held", groups=groups)
    assert judge.judge(two_refused().delete(4.5, "gang-1-3").recording, wanted) is None
    assert judge.judge(two_refused().bind(4.5, *pods(1)).recording, wanted) is None
    if groups > 1:
        verdict = accepted(two_refused(), wanted)
        assert "gang-1" not in verdict.reason
        assert "gang-1" in verdict.evidence[2]


def test_held_is_found_after_some_time_when_another_verdict_is_expected() -> None:
    story = Story().node(0.0, "w0", "blocked").members(1.0).pod_group(1.0)
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    assert judge.assess(story.until(20.9).recording, expect("placed")) == RecheckAt(21.0)
    fault(story.until(21.0), "placed", "held")


@pytest.mark.parametrize(
    ("worker", "requests"),
    [
        ({"cpu": "2", "memory": "4Gi"}, {}),
        ({"taints": None}, {}),
        ({}, {"example.com/device": "1"}),  # of which workers are not asked
    ],
)
def test_held_is_shown_by_a_worker_with_just_enough_room(
    worker: dict[str, Any], requests: dict[str, str]
) -> None:
    story = gang_created(Story().node(0.0, "w0"))
    story.tell(0.1, "node", "MODIFIED", "w0", **worker)
    reserved = {"cpu": "8", "memory": "16Gi", "example.com/device": "4"}
    story.phase(1.5, "Pending", minResources=reserved)
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    accepted(story, expect("held", requests={"cpu": "2", "memory": "4Gi", **requests}))


def test_held_where_the_only_free_worker_went_or_workers_are_not_known_shows_nothing() -> None:
    story = gang_created(Story().node(0.0, "w0", "blocked").node(0.0, "w1"))
    story.tell(0.5, "node", "DELETED", "w1")
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    fault(story, "held", "unproven", "none of 1 is free")
    story = gang_created(Story(missing={"node": "no permission"}))
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    fault(story, "held", "unproven", "a part of the gang fits is not known: no permission")


def test_held_is_not_believed_of_a_scheduler_that_stopped_long_ago() -> None:
    story = Story().members(0.0, listed=True)
    story.pod_group(0.0, listed=True).refuse(0.0, 5, listed=True).until(30.0)
    assert judge.judge(story.recording, expect("held")) is None


def test_released_measures_from_the_taint_that_went_to_the_last_bind() -> None:
    story = gang_created(Story().node(0.0, "w1", "blocked").node(0.0, "w2", "blocked"))
    story.refuse(2.0, 1).refuse(3.0, 2).node(5.0, "w1")
    gang_placed(story, at=5.5).node(5.6, "w2")  # which changes nothing any more
    verdict = accepted(story, expect("released"))
    assert verdict.observed == "released"
    assert verdict.release_latency_seconds == 0.53
    assert verdict.bind_skew_seconds == 0.03


def test_released_is_not_called_held_while_it_waits_for_the_taint_to_go() -> None:
    story = gang_created(Story().node(0.0, "w1", "blocked"))
    for second in range(1, 10):
        story.refuse(1.0 + second, second)
    assert judge.judge(story.recording, expect("released")) is None


def test_released_without_a_taint_that_went_is_unproven() -> None:
    story = gang_placed(gang_created(Story().node(0.0, "w1", "blocked")))
    verdict = fault(story, "released", "unproven", "no worker was unblocked", "taintedWorkers")
    assert verdict.release_latency_seconds is None
    assert not judge.needs_new_pods(story.recording, expect("released"), verdict)


def test_pods_that_nothing_holds_together_may_come_one_by_one() -> None:
    story = control(Story(), bound=2, refused=0)
    for index in (2, 3):
        story.bind(30.0, f"no-gang-x-{index}")
    for index in range(4):
        story.run(31.0, f"no-gang-x-{index}")
    expectation = replace(expect_partial(), verdict="placed")
    accepted(story, expectation)


def test_release_is_measured_from_a_worker_that_was_unblocked_before_the_bind() -> None:
    story = Story().node(0.0, "w1", "blocked").node(0.0, "w2", "blocked").node(0.0, "w3", "blocked")
    gang_created(story).node(1.3, "w3").node(1.5, "w2").bind(2.0, *pods()[1:]).bind(
        2.03456, "gang-0"
    )
    verdict = judged(story.run(2.2, *pods()).node(3.0, "w1"), expect("released"))
    assert (verdict.release_latency_seconds, verdict.bind_skew_seconds) == (0.535, 0.035)
    assert verdict.evidence[-1] == "w2 was unblocked at 1.500 s; the last bind came 0.535 s later"


def test_partial_needs_the_others_refused_and_some_time() -> None:
    story = control(Story())
    assert judge.assess(story.until(2.0).recording, expect_partial()) == RecheckAt(4.1)
    verdict = accepted(story.until(4.1), expect_partial())
    assert (verdict.observed, verdict.bound, verdict.size) == ("partial", 2, 4)
    assert verdict.pod_group is None
    assert verdict.reason == "2 of 4 pods of no-gang bound, the others refused"
    assert verdict.evidence == [
        "bound: no-gang-x-0, no-gang-x-1",
        "refused: no-gang-x-2, no-gang-x-3",
        "because: 0/3 nodes are available: 1 Insufficient cpu",
    ]


def test_partial_lasts_from_the_last_bind_of_the_pods_that_exist() -> None:
    story = control(Story(), bound=1, refused=2).bind(3.0, "no-gang-x-1")
    facts: dict[str, Any] = {"workload": "Deployment/no-gang", "group": None, "podGroup": None}
    story.pod(3.1, "no-gang-x-9", scheduler="default-scheduler", **facts)
    story.bind(3.5, "no-gang-x-9").delete(3.6, "no-gang-x-9")
    assert judge.assess(story.recording, expect_partial()) == RecheckAt(6.0)
    verdict = accepted(story.until(6.0), expect_partial())
    assert verdict.reason.startswith("2 of 4 pods")
    assert verdict.evidence[0] == "bound: no-gang-x-0, no-gang-x-1"


def test_placed_names_the_pods_and_leaves_out_groups_that_went() -> None:
    story = gang_placed(gang_created(Story().members(0.5, 1)))
    story.pod_group(0.6, 1, owner="Pod/gang-1", ownerUid="gone").delete(0.7, *pods(1))
    story.tell(0.8, "podgroup", "DELETED", "gang-1-r1")
    story.tell(0.9, "workload", "ADDED", "other", updating=True)
    story.tell(0.9, "workload", "ADDED", "gang", updating=True)
    story.tell(1.0, "workload", "DELETED", "gang")
    verdict = accepted(story, expect("placed"))
    assert verdict.reason == "4 of 4 pods bound and running"
    assert verdict.evidence == [
        "all 4 pods bound and running: gang-0, gang-0-1, gang-0-2, gang-0-3",
        "gang-0 was bound in one burst of 0.030 s",
    ]


def test_partial_is_not_decided_while_a_pod_was_not_refused() -> None:
    story = control(Story(), refused=1).until(60.0)
    assert judge.judge(story.recording, expect_partial()) is None


@pytest.mark.parametrize("text", ['{"scenario": "gang"}', "{"])
def test_an_incomplete_expectation_is_refused(text: str) -> None:
    with pytest.raises(LockstepError, match="the expectation is not valid: "):
        Expectation.from_json(text)


@pytest.mark.parametrize(("bound", "changed", "at"), [(3.0, 2.2, 3.2), (1.2, 3.0, 3.201)])
def test_the_next_look_is_at_the_soonest_time_of_all_rules(
    bound: float, changed: float, at: float
) -> None:
    story = gang_created(gang_created(Story()), group=1).bind(bound, "gang-1")
    gang_placed(story).change(changed, "gang-0", ready=True)
    assert judge.assess(story.until(3.0).recording, expect("placed")) == RecheckAt(at)


def test_an_unknown_verdict_is_refused() -> None:
    names = "capped, deadlocked, held, .*, serialized$"
    with pytest.raises(LockstepError, match=f"no verdict 'perfect'; use one of: {names}"):
        judge.judge(Story().recording, expect("perfect"))


def test_refusal_by_a_full_queue_shows_nothing_about_room() -> None:
    story = gang_created(Story().node(0.0, "w0"))
    facts: dict[str, Any] = {"reason": "Unschedulable"}
    facts["objectUid"] = story.uid("podgroup", "gang-0-r1")
    message = "queue resource quota insufficient: insufficient cpu"
    for second in range(2, 8):
        story.tell(second, "event", "MODIFIED", "e", count=second, message=message, **facts)
    assert judge.judge(story.recording, HELD) is None


def test_held_when_a_group_that_is_no_longer_wanted_was_deleted() -> None:
    story = Story().node(0.0, "w0").members(0.0, 1, listed=True).members(0.0, listed=True)
    story.pod_group(0.0, listed=True).delete(1.0, *pods(1))
    for second in range(2, 6):
        story.refuse(second, second)
    accepted(story, HELD)


def test_refusals_that_may_be_older_than_the_last_change_do_not_count() -> None:
    story = gang_created(Story().node(0.0, "w0"))
    story.refuse(2.0, 1).tell(5.0, "event", "MODIFIED", "e", count=9, late=4.0)
    assert judge.judge(story.recording, HELD) is None


def test_documents_have_the_names_that_json_has() -> None:
    text = json.dumps(msgspec.to_builtins(expect("placed", size=1)))
    assert Expectation.from_json(text.replace('"size": 1', '"size": 1.0')).size == 1
    assert Expectation.from_json(text.replace('"groups": 1, ', "")).groups == 1
    with pytest.raises(LockstepError, match=r"the expectation is not valid: .*size"):
        Expectation.from_json(text.replace('"size": 1', '"size": 0'))
    verdict = accepted(gang_placed(gang_created(Story())), expect("placed"))
    assert msgspec.to_builtins(verdict)["bindSkewSeconds"] == verdict.bind_skew_seconds
