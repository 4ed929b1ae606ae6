"""A gang of higher priority at a full pool: it gets all places of a gang, or it waits."""

import json

import pytest

from lockstep import judge
from lockstep.judge import Expectation, RecheckAt, Workload
from tests.unit.lockstep.crowds import ended
from tests.unit.lockstep.judge.verdicts import accepted, fault, judged
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed

HIGH = [f"high-0{suffix}" for suffix in ("", "-1", "-2", "-3")]
OVERUSED = "resource in cluster is overused: overused cpu"


def rivalry(verdict: str = "preempted-whole") -> Expectation:
    rival = Workload("LeaderWorkerSet", "high")
    return expect(verdict, scenario="preemption", rival=rival)


def full_pool() -> Story:
    return gang_placed(gang_created(Story(), priorityClass="low"), 2.0)


def arrived(story: Story, at: float = 5.0, priority: str | None = "high") -> Story:
    for index, name in enumerate(HIGH):
        role = "worker" if index else "leader"
        story.pod(at, name, lws="high", role=role, priorityClass="high")
    return story.pod_group(at, lws="high", priorityClass=priority)


def placed(story: Story, at: float = 7.0) -> Story:
    story.bind(at, *HIGH)
    story.run(at + 0.2, *HIGH)
    return story


def preempted() -> Story:
    story = ended(arrived(full_pool()), 6.0, 0, last=0.3)
    return placed(gang_created(story, 6.5, priorityClass="low"))


def test_preempted_whole() -> None:
    verdict = accepted(preempted(), rivalry())
    assert verdict.observed == "preempted-whole"
    assert verdict.measures == {
        "preemptionSeconds": 2.0,
        "victimPartlyBoundSeconds": pytest.approx(0.3),
    }
    assert (verdict.bound, verdict.size) == (0, 4)
    assert verdict.evidence == [
        "high-0: pods of priority class high, PodGroup high-0-r1 of high",
        "gang-0: pods of priority class low, PodGroup gang-0-r1 of none, "
        "because LWS does not set it",
        "gang-0 gave up its places within 0.300 s",
        "gang-0 was recreated and waits: 0 of 4 pods bound",
    ]


def test_preempted_and_left_without_a_pod_group_is_in_the_evidence() -> None:
    story = preempted().tell(8.0, "podgroup", "DELETED", "gang-0-r1")
    verdict = accepted(story, rivalry())
    assert "gang-0 was recreated without a PodGroup (lws#1054)" in verdict.evidence


def test_a_worker_made_again_for_a_gang_that_went_is_no_part_of_its_end() -> None:
    story = ended(arrived(full_pool()), 6.0, 0, last=0.3)
    story.pod(6.4, "gang-0-1")
    placed(story)
    story.delete(9.0, "gang-0-1")
    verdict = accepted(story, rivalry())
    assert verdict.measures["victimPartlyBoundSeconds"] == pytest.approx(0.3)


def test_nothing_is_known_before_the_rival_comes() -> None:
    assert judge.judge(full_pool().until(30.0).recording, rivalry()) is None


def test_room_for_both_is_no_preemption() -> None:
    fault(placed(arrived(full_pool())), rivalry(), "placed")


def test_a_gang_that_loses_a_part_and_keeps_the_rest_is_cut() -> None:
    story = arrived(full_pool())
    story.delete(6.0, "gang-0-3")
    assert isinstance(judge.assess(story.until(7.0).recording, rivalry()), RecheckAt)
    verdict = fault(story.until(8.5), rivalry(), "cut", "kept others for 2.5 s")
    assert verdict.evidence == ["still bound: gang-0, gang-0-1, gang-0-2"]


def test_a_gang_that_went_bit_by_bit_is_cut_also_when_it_is_gone() -> None:
    story = placed(ended(arrived(full_pool()), 6.0, 0, last=4.0), 11.0)
    assert judged(story, rivalry()).observed == "cut"


def test_a_rival_that_gets_a_part_of_the_room_is_partial() -> None:
    story = ended(arrived(full_pool()), 6.0, 0).bind(7.0, "high-0").until(10.0)
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
    story = waiting()
    assert judge.assess(story.until(24.0).recording, rivalry()) == RecheckAt(25.0)
    verdict = fault(story.until(25.0), rivalry(), "waits")
    assert verdict.reason.endswith(OVERUSED)
    assert "high-0: pods of priority class high, PodGroup high-0-r1 of none" in verdict.evidence[0]
    assert verdict.evidence[-1] == OVERUSED
    assert verdict.bound == 4


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
