"""A gang of higher priority at a full pool: it gets all places of a gang, or it waits."""

import json
from typing import Any

import pytest
from msgspec import structs

from lockstep import judge
from lockstep.judge import Expectation, RecheckAt, Workload
from lockstep.recording.model import Observation
from tests.unit.lockstep.crowds import ended
from tests.unit.lockstep.judge.verdicts import accepted, concluded, fault
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed, pods

HIGH = [f"high-0{suffix}" for suffix in ("", "-1", "-2", "-3")]
SECOND = [name.replace("high-0", "high-1") for name in HIGH]
OVERUSED = "resource in cluster is overused: overused cpu"


def rivalry(groups: int = 1) -> Expectation:
    rival = Workload("LeaderWorkerSet", "high")
    return expect("preempted-whole", scenario="preemption", rival=rival, groups=groups)


def full_pool() -> Story:
    return gang_placed(gang_created(Story(), priorityClass="low"), 2.0)


def arrived(story: Story, at: float = 5.0, priority: str | None = "high") -> Story:
    for index, name in enumerate(HIGH):
        role = "worker" if index else "leader"
        story.pod(at, name, lws="high", role=role, priorityClass="high")
    return story.pod_group(at, lws="high", priorityClass=priority)


def evicted(
    story: Story,
    at: float,
    group: int,
    last: float = 0.3,
    action: str = "preempt",
    most: int = 2,
) -> Story:
    """Volcano takes the places of a gang: of some pods itself."""
    uid = story.uid("podgroup", f"gang-{group}-r1")
    told: dict[str, Any] = {
        "reason": "Evict",
        "objectUid": uid,
        "source": "volcano",
        "message": action,
    }
    story.tell(at, "event", "ADDED", f"{uid}-{action}", **told)
    story.change(at, *pods(group)[:most], preemptedBy="volcano")
    return ended(story, at, group, last)


def placed(story: Story, at: float = 7.0) -> Story:
    story.bind(at, *HIGH)
    story.run(at + 0.2, *HIGH)
    return story


def preempted() -> Story:
    story = evicted(arrived(full_pool()), 6.0, 0, last=0.3)
    return placed(gang_created(story, 6.5, priorityClass="low"))


def test_preempted_whole() -> None:
    verdict = accepted(preempted(), rivalry())
    assert verdict.observed == "preempted-whole"
    assert verdict.reason == (
        "gang-0 was preempted completely by the gang of higher priority, which ran 2.0 s after it "
        "arrived"
    )
    assert verdict.measures == {
        "preemptionSeconds": 2.0,
        "victimPartlyBoundSeconds": pytest.approx(0.3),
    }
    assert (verdict.bound, verdict.size, verdict.bind_skew_seconds) == (0, 4, 0.0)
    assert verdict.evidence == [
        "high-0: pods of priority class high, PodGroup high-0-r1 of high",
        "gang-0: pods of priority class low, PodGroup gang-0-r1 of none, "
        "because LWS does not set it",
        "Volcano evicted 2 of 4 pods of gang-0 (preempt), and LWS ended the rest",
        "gang-0 gave up its places within 0.300 s",
        "gang-0 was recreated and waits: 0 of 4 pods bound",
    ]


@pytest.mark.parametrize(
    ("most", "others", "told"),
    [
        (4, 0, "Volcano evicted all 4 pods of gang-0 (gangpreempt)"),
        (3, 1, "Volcano evicted 3 of 4 pods of gang-0 (gangpreempt), and LWS ended the rest"),
        (3, 0, "Volcano evicted 3 of 4 pods of gang-0 (gangpreempt), and LWS ended the rest"),
    ],
)
def test_evidence_names_the_action_and_how_many_pods_it_evicted(
    most: int, others: int, told: str
) -> None:
    story = arrived(full_pool())
    story.change(5.5, *pods()[4 - others :], preemptedBy="default-scheduler")
    story = evicted(story, 6.0, 0, action="gangpreempt", most=most)
    # A pod of the next incarnation that is evicted, too, is not one of those that ran.
    story = gang_created(story, 6.5, priorityClass="low").change(
        6.6, "gang-0", preemptedBy="volcano"
    )
    assert told in accepted(placed(story), rivalry()).evidence


def test_evidence_names_every_action_that_evicted_pods() -> None:
    story = arrived(full_pool())
    uid = story.uid("podgroup", "gang-0-r1")
    told: dict[str, Any] = {
        "reason": "Evict",
        "objectUid": uid,
        "source": "volcano",
        "message": "reclaim",
    }
    story.tell(5.9, "event", "ADDED", "e", **told).tell(5.9, "event", "ADDED", "f", **told)
    story = placed(gang_created(evicted(story, 6.0, 0), 6.5, priorityClass="low"))
    words = "Volcano evicted 2 of 4 pods of gang-0 (reclaim, preempt), and LWS ended the rest"
    assert words in accepted(story, rivalry()).evidence


def test_preempted_and_left_without_a_pod_group_is_in_the_evidence() -> None:
    story = preempted().tell(8.0, "podgroup", "DELETED", "gang-0-r1")
    story.change(8.0, "gang-0-3", priorityClass="lower")
    evidence = accepted(story, rivalry()).evidence
    assert "gang-0 was recreated without a PodGroup (lws#1054)" in evidence
    assert "gang-0: pods of priority class low, lower, no PodGroup" in evidence


def test_a_gang_that_is_not_recreated_yet_is_in_the_evidence() -> None:
    story = placed(evicted(arrived(full_pool()), 6.0, 0))
    story.change(7.5, "high-0", priorityClass="urgent").pod_group(
        7.5, lws="high", priorityClass="x"
    )
    evidence = accepted(story, rivalry()).evidence
    assert "gang-0 is being recreated: 0 of 4 pods exist" in evidence
    assert "high-0: pods of priority class high, urgent, PodGroup high-0-r1 of x" in evidence


def two_pairs() -> Story:
    """Two gangs fill the pool, and two rivals arrive."""
    story = gang_placed(gang_created(full_pool(), 1.5, 1), 2.5, 1)
    arrived(story, 5.0)
    for index, name in enumerate(SECOND):
        story.pod(6.0, name, 1, "high", role="worker" if index else "leader", priorityClass="high")
    return story.pod_group(6.0, 1, "high", priorityClass="high")


def test_two_gangs_are_preempted_by_two_rivals_which_is_over_with_the_last() -> None:
    story = evicted(evicted(two_pairs(), 7.0, 0, last=0.3), 7.0, 1, last=0.6)
    placed(story, 8.0)
    assert judge.judge(story.recording, rivalry(groups=2)) is None
    verdict = accepted(story.bind(9.0, *SECOND).run(9.1, *SECOND), rivalry(groups=2))
    assert verdict.reason.startswith("gang-0, gang-1 was preempted completely")
    assert verdict.measures == {"preemptionSeconds": 4.0, "victimPartlyBoundSeconds": 0.6}


def test_rivals_are_complete_with_the_last_also_if_a_worker_of_it_is_replaced() -> None:
    story = placed(evicted(evicted(two_pairs(), 7.0, 0), 7.0, 1), 8.0)
    story.bind(9.0, *SECOND).run(9.1, *SECOND).delete(10.0, "high-1-2")
    story.pod(10.1, "high-1-2", 1, "high", priorityClass="high")
    story.bind(10.2, "high-1-2").run(10.3, "high-1-2")
    assert accepted(story, rivalry(groups=2)).measures["preemptionSeconds"] == 4.0


def test_only_what_ends_after_the_arrival_is_preempted() -> None:
    story = gang_placed(gang_created(evicted(full_pool(), 3.0, 0), 3.5), 4.0)
    reason = "there was room for both: no gang was preempted"
    fault(placed(arrived(story)), rivalry(), "placed", reason)
    story = placed(arrived(evicted(full_pool(), 5.0, 0), 5.0))
    accepted(story, rivalry())


def test_a_rival_whose_worker_is_replaced_is_judged() -> None:
    story = evicted(arrived(full_pool()), 6.0, 0).bind(7.0, *HIGH).delete(7.1, "high-0-2")
    story.pod(7.2, "high-0-2", lws="high").bind(7.3, "high-0-2").run(7.4, *HIGH)
    assert accepted(story, rivalry()).measures["preemptionSeconds"] == 2.0


@pytest.mark.parametrize(("mark", "seconds"), [(5.0, 2.0), (5.6, 1.5)])
def test_rival_arrives_with_its_first_pod_since_it_was_last_sent(
    mark: float, seconds: float
) -> None:
    story = full_pool()
    story.recording.mark("arrives", "", 2.0)
    story.pod(3.0, "high-0", lws="high", role="leader").delete(3.5, "high-0")
    arrived(story).delete(5.2, "high-0-3").pod(5.5, "high-0-3", lws="high", priorityClass="high")
    story.recording.mark("arrives", "", mark)
    story.recording.mark("waiting", "", 6.5)
    verdict = accepted(placed(evicted(story, 6.0, 0)), rivalry())
    assert verdict.measures["preemptionSeconds"] == seconds


def test_gang_that_is_not_expected_must_not_be_torn_beside_a_rival() -> None:
    story = arrived(full_pool()).pod(5.0, "gang-9", 9, role="leader", podGroup=None)
    fault(story.bind(6.0, "gang-9").until(9.0), rivalry(), "partial", "of gang-9 bound")


def test_a_rival_that_is_recreated_before_it_runs_has_arrived_before() -> None:
    story = evicted(arrived(full_pool()), 6.0, 0).delete(6.5, *HIGH)
    story.tell(6.5, "podgroup", "DELETED", "high-0-r1")
    verdict = accepted(placed(arrived(story, 7.0), 8.0), rivalry())
    assert verdict.measures["preemptionSeconds"] == 3.0


def test_a_worker_made_again_for_a_gang_that_went_is_no_part_of_its_end() -> None:
    story = evicted(arrived(full_pool()), 6.0, 0, last=0.3)
    story.pod(6.4, "gang-0-1")
    placed(story)
    story.delete(9.0, "gang-0-1")
    verdict = accepted(story, rivalry())
    assert verdict.measures["victimPartlyBoundSeconds"] == pytest.approx(0.3)


def test_nothing_is_known_before_the_rival_comes() -> None:
    recording = full_pool().until(30.0).recording
    assert judge.judge(recording, rivalry()) is None
    assert judge.judge(recording, expect("preempted-whole")) is None


def test_room_for_both_is_no_preemption() -> None:
    fault(placed(arrived(full_pool())), rivalry(), "placed")


def test_a_gang_that_loses_a_part_and_keeps_the_rest_is_cut() -> None:
    story = arrived(full_pool())
    story.delete(6.0, "gang-0-3")
    at = judge.assess(story.until(7.0).recording, rivalry())
    assert at == RecheckAt(8.001)
    assert judge.judge(story.until(8.0).recording, rivalry()) is None
    reason = "gang-0 lost pods to the other gang and kept others for 2.5 s"
    verdict = fault(story.until(8.5), rivalry(), "cut", reason)
    assert verdict.evidence == ["still bound: gang-0, gang-0-1, gang-0-2"]


def test_a_gang_that_went_bit_by_bit_is_cut_also_when_it_is_gone() -> None:
    story = placed(evicted(arrived(full_pool()), 6.0, 0, last=4.0), 11.0)
    assert fault(story, rivalry(), "cut").evidence == ["still bound: none"]


def test_a_rival_that_gets_a_part_of_the_room_is_partial() -> None:
    story = evicted(arrived(full_pool()), 6.0, 0).bind(7.0, "high-0").until(10.0)
    fault(story, rivalry(), "partial")


def waiting() -> Story:
    story = arrived(full_pool(), priority=None)
    story.refuse(6.0, 1, group="high-0-r1")
    return story.tell(
        6.5,
        "event",
        "ADDED",
        "overused",
        type="Normal",
        reason="Unschedulable",
        object="PodGroup/high-0-r1",
        message=OVERUSED,
        count=1,
        objectUid=story.uid("podgroup", "high-0-r1"),
    )


def test_waits_is_found_after_some_time_when_preemption_is_expected() -> None:
    story = waiting().pod(4.0, "gang-9", 9, podGroup=None)  # of a gang not expected
    assert judge.assess(story.until(24.0).recording, rivalry()) == RecheckAt(25.0)
    verdict = fault(story.until(25.0), rivalry(), "waits")
    assert verdict.reason.endswith(OVERUSED)
    assert verdict.evidence == [
        "high-0: pods of priority class high, PodGroup high-0-r1 of none, "
        "because LWS does not set it",
        "gang-0: pods of priority class low, PodGroup gang-0-r1 of none, "
        "because LWS does not set it",
        "4/4 tasks in gang unschedulable: 1 Insufficient cpu",
        OVERUSED,
    ]
    assert verdict.bound == 4


def test_waiting_is_counted_from_the_last_pod_of_a_rival() -> None:
    story = waiting().delete(7.0, "high-0-3")
    assert judge.assess(story.until(60.0).recording, rivalry()) is None
    story.pod(61.0, "high-0-3", lws="high").refuse_pod(63.0, "high-0-3")
    assert judge.assess(story.until(64.0).recording, rivalry()) == RecheckAt(81.0)


def test_a_rival_does_not_wait_while_a_gang_gives_way_or_another_rival_is_bound() -> None:
    gives_way = evicted(waiting(), 7.0, 0).until(60.0)
    assert judge.assess(gives_way.recording, rivalry()) is None
    story = two_pairs().refuse(7.0, 1, group="high-1-r1")
    bound = two_pairs().refuse(7.0, 1, group="high-1-r1").bind(8.0, *HIGH).until(60.0)
    assert judge.assess(bound.recording, rivalry(groups=2)) is None
    story.tell(7.0, "podgroup", "DELETED", "high-0-r1")
    fault(story.until(60.0), rivalry(groups=2), "waits")
    assert judge.assess(story.delete(61.0, "high-0-1").recording, rivalry(groups=2)) is None


def test_a_rival_that_no_scheduler_handles_is_not_found_waiting() -> None:
    story = arrived(full_pool()).until(30.0)
    assert judge.judge(story.recording, rivalry()) is None


def test_expectation_of_a_crowd_is_read_as_it_is_written() -> None:
    plain = expect("placed")
    assert not {"atOnce", "queue", "rival"} & set(plain.to_mapping())
    for one in (rivalry(), expect("capped", at_once=2, queue="narrow", min_member=1), plain):
        assert Expectation.from_json(json.dumps(one.to_mapping())) == one
    floats = {**rivalry().to_mapping(), "atOnce": 2.0}  # as Pulumi hands numbers over
    assert Expectation.from_json(json.dumps(floats)).at_once == 2


def test_rival_without_a_priority_class_preempts_nothing() -> None:
    story = evicted(arrived(full_pool(), priority=None), 6.0, 0)
    story = placed(gang_created(story, 6.5, priorityClass="low"))
    fault(story, rivalry(), "mismatched", "the PodGroup of high-0 has no priority class")


@pytest.mark.parametrize(
    ("first_late", "last_late", "observed"),
    [(0.0, 1.1, "unproven"), (0.0, 0.9, "cut"), (3.0, 3.0, "unproven"), (3.0, 0.9, "cut")],
)
def test_end_of_a_gang_that_was_told_late_is_not_known(
    first_late: float, last_late: float, observed: str
) -> None:
    story = arrived(full_pool())
    story.tell(6.0, "pod", "DELETED", "gang-0", late=first_late)
    for name in pods()[1:]:
        story.tell(9.0, "pod", "DELETED", name, late=last_late)
    story.tell(9.0, "podgroup", "DELETED", "gang-0-r1")
    fault(placed(gang_created(story, 9.5, priorityClass="low"), 10.0), rivalry(), observed)


def test_gang_that_ends_for_another_reason_is_not_preempted() -> None:
    story = placed(gang_created(ended(arrived(full_pool()), 6.0, 0), 6.5, priorityClass="low"))
    assert judge.assess(story.until(15.9).recording, rivalry()) == RecheckAt(16.0)
    words = "gang-0 ended, but the scheduler did not report that it evicted it"
    fault(story.until(16.0), rivalry(), "unproven", words)
    concluded(story.until(9.0), rivalry(), "unproven", words)


@pytest.mark.parametrize(("late", "is_known"), [(1.0, True), (1.1, False)])
def test_end_of_a_gang_may_have_begun_earlier(late: float, is_known: bool) -> None:
    story = evicted(arrived(full_pool()), 7.0, 0, last=1.0)
    (first,) = [seen for seen in story.recording.observations if seen.at == 7.0 and is_end(seen)]
    story.recording.observations.remove(first)
    story.recording.add(structs.replace(first, late=late))
    story = placed(gang_created(story, 8.5, priorityClass="low"), 9.0)
    if is_known:
        accepted(story, rivalry())
    else:
        fault(story, rivalry(), "unproven", "its end was told late")


def is_end(seen: Observation) -> bool:
    return seen.kind == "pod" and seen.change == "DELETED"


def test_end_of_each_gang_counts_when_two_are_preempted() -> None:
    story = evicted(two_pairs(), 7.0, 0, last=0.3)
    story.tell(7.0, "event", "ADDED", "e", reason="Evict", source="volcano")
    story.change(7.4, "gang-1", deleting=True)
    for name in pods(1)[1:]:
        story.tell(7.5, "pod", "MODIFIED", name, deleting=True, late=0.4)
    story.tell(7.5, "podgroup", "DELETED", "gang-1-r1")
    story = placed(story, 8.0).bind(9.0, *SECOND).run(9.1, *SECOND)
    assert judge.assess(story.recording, rivalry(groups=2)) == RecheckAt(17.4)
    words = "gang-1 ended, but the scheduler did not report that it evicted it"
    fault(story.until(17.4), rivalry(groups=2), "unproven", words)


@pytest.mark.parametrize(
    "told",
    [
        {"reason": "Evict", "source": "kubelet"},
        {"reason": "Unschedulable", "source": "volcano"},
        {"reason": "Evict", "source": "volcano", "objectUid": "another"},
    ],
)
def test_eviction_is_what_the_scheduler_says_of_the_pod_group(told: dict[str, str]) -> None:
    story = arrived(full_pool())
    facts: dict[str, Any] = {"objectUid": story.uid("podgroup", "gang-0-r1"), **told}
    story.tell(6.0, "event", "ADDED", "e", **facts)
    other = story.uid("podgroup", "high-0-r1")
    story.tell(6.0, "event", "ADDED", "f", reason="Evict", source="volcano", objectUid=other)
    story = placed(gang_created(ended(story, 6.0, 0), 6.5, priorityClass="low"))
    concluded(story, rivalry(), "unproven", "did not report that it evicted it")


def test_eviction_counts_when_its_event_is_gone() -> None:
    story = evicted(arrived(full_pool()), 6.0, 0)
    (name,) = [one.name for one in story.recording.of("event") if one.facts["reason"] == "Evict"]
    story = placed(gang_created(story, 6.5, priorityClass="low"))
    accepted(story.tell(8.0, "event", "DELETED", name), rivalry())


def test_rival_without_a_pod_group_preempts_nothing() -> None:
    story = arrived(full_pool()).tell(5.5, "podgroup", "DELETED", "high-0-r1")
    story = placed(gang_created(evicted(story, 6.0, 0), 6.5, priorityClass="low"))
    fault(story, rivalry(), "mismatched", "the PodGroup of high-0 has no priority class")


def test_longest_end_of_the_preempted_gangs_counts() -> None:
    story = evicted(evicted(two_pairs(), 7.0, 0, last=0.3), 7.0, 1, last=2.1)
    story = placed(story, 9.5).bind(9.6, *SECOND).run(9.7, *SECOND)
    fault(story, rivalry(groups=2), "cut", "gang-1")


def test_end_that_was_told_late_counts_for_each_of_two_gangs() -> None:
    story = evicted(two_pairs(), 7.0, 0, last=0.3)
    story.tell(7.4, "pod", "MODIFIED", "gang-1", deleting=True, late=2.2)
    story.change(7.5, *pods(1)[1:], deleting=True)
    story.tell(7.5, "podgroup", "DELETED", "gang-1-r1")
    story = placed(story, 8.0).bind(9.0, *SECOND).run(9.1, *SECOND)
    fault(story, rivalry(groups=2), "unproven", "its end was told late")
