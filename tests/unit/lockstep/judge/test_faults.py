"""Every way to fail, each with the reason that names it."""

from __future__ import annotations

import pytest

from lockstep import judge
from lockstep.judge import Limits, RecheckAt, Verdict
from tests.unit.lockstep.story import (
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def fault(story: Story, verdict: str, **changes: object) -> Verdict:
    """The verdict that the story already decides, which is not ok."""
    decided = judge.judge(story.recording, expect(verdict, **changes))
    assert decided is not None
    assert not decided.ok
    return decided


def at_deadline(story: Story, verdict: str = "placed") -> Verdict:
    assert judge.judge(story.recording, expect(verdict)) is None
    concluded = judge.conclude(story.recording, expect(verdict))
    assert not concluded.ok
    return concluded


def test_partly_bound_for_longer_than_a_burst_is_a_violation() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").bind(2.1, "gang-0-1")
    waiting = judge.assess(story.until(3.5).recording, expect("placed"))
    assert isinstance(waiting, RecheckAt)
    assert waiting.at == pytest.approx(4.0, abs=0.01)
    verdict = fault(story.until(5.1), "placed")
    assert verdict.observed == "partial"
    assert verdict.reason == (
        "gang: expected placed, observed partial: 2 of 4 pods of gang-0 bound for 3.1 s"
    )
    assert "bound: gang-0, gang-0-1" in verdict.evidence
    assert "not bound: gang-0-2, gang-0-3" in verdict.evidence
    assert any("from 2.000 s to the end" in fact for fact in verdict.evidence)


def test_partly_bound_then_recovered_is_still_a_violation() -> None:
    story = gang_created(Story())
    for at, name in zip((2.0, 2.1, 5.0, 5.1), pods(), strict=True):
        story.bind(at, name)
    for name in pods():
        story.run(5.2, name)
    verdict = fault(story, "placed")
    assert verdict.observed == "torn"
    assert "bound for 3.1 s" in verdict.reason
    assert any("from 2.000 s to 5.100 s" in fact for fact in verdict.evidence)


def test_a_longer_burst_can_be_allowed() -> None:
    story = gang_created(Story())
    for at, name in zip((2.0, 2.1, 5.0, 5.1), pods(), strict=True):
        story.bind(at, name)
    for name in pods():
        story.run(5.2, name)
    verdict = judge.judge(story.recording, expect("placed"), Limits(burst=4.0))
    assert verdict is not None
    assert verdict.ok


def test_wrong_min_member() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name)
    story.pod_group(1.0, minMember=1)
    gang_placed(story)
    assert judge.assess(story.recording, expect("placed")) == RecheckAt(3.2)
    verdict = fault(story.until(3.3), "placed")
    assert verdict.observed == "unmanaged"
    assert "minMember 1, not 4" in verdict.reason


def test_min_member_of_one_is_right_when_the_leader_starts_alone() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name)
    story.pod_group(1.0, minMember=1)
    verdict = judge.judge(gang_placed(story).recording, expect("placed", min_member=1))
    assert verdict is not None
    assert verdict.ok


@pytest.mark.parametrize("reserved", [{"cpu": "6", "memory": "16Gi"}, {"cpu": "8"}, {"cpu": "?"}])
def test_wrong_min_resources(reserved: dict[str, str]) -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name)
    story.pod_group(1.0, minResources=reserved)
    verdict = fault(gang_placed(story).until(9.0), "placed")
    assert verdict.observed == "mismatched"
    assert "PodGroup gang-0-r1 reserves" in verdict.reason


def test_extra_pod_group() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, name="gang-0-old").until(9.0)
    verdict = fault(story, "placed")
    assert verdict.observed == "mismatched"
    assert "unexpected PodGroup gang-0-old" in verdict.reason


def successor(name: str, at: float = 10.0) -> Story:
    """A gang whose pods are all new, and the PodGroup of the leader before, under a name."""
    story = gang_created(Story(), podGroup=name)
    uid = story.uid("pod", "gang-0")
    story.tell(1.1, "podgroup", "DELETED", "gang-0-r1")
    story.pod_group(1.2, name=name, owner="Pod/gang-0", ownerUid=uid)
    for pod in pods():
        story.delete(at, pod)
    gang_created(story, at + 1.0)
    story.own(at + 1.1, story.uid("pod", "gang-0"))
    return gang_placed(story, at + 2.0)


def test_pod_group_of_a_leader_that_left_waits_for_the_collector_and_holds_nobody() -> None:
    verdict = judge.judge(successor("gang-0-r0").recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok
    assert verdict.pod_group is not None
    assert verdict.pod_group["name"] == "gang-0-r1"
    assert any("gang-0-r0, whose leader was deleted, is not" in f for f in verdict.evidence)


def test_pod_group_of_an_earlier_leader_holds_the_gang_only_until_it_is_collected() -> None:
    story = gang_placed(gang_created(Story()).own(1.2, "earlier"))
    assert isinstance(judge.assess(story.recording, expect("placed")), RecheckAt)
    verdict = fault(story.until(9.0), "placed")
    assert verdict.observed == "unmanaged"
    assert "gang-0-r1 of gang-0 is owned by a deleted leader" in verdict.reason
    assert "lws#1054); delete pod gang-0" in verdict.reason


def test_pod_group_that_volcano_made_for_a_controller_is_no_leaders() -> None:
    story = gang_created(Story()).own(1.2, "unwatched", "StatefulSet", minMember=1)
    verdict = fault(gang_placed(story).until(9.0), "placed")
    assert verdict.observed == "unmanaged"
    assert "has minMember 1, not 4" in verdict.reason
    assert "leader" not in verdict.reason


def test_pod_group_that_went_before_anybody_watched() -> None:
    story = Story()
    for name in pods():
        story.pod(0.0, name, node="w1", phase="Running", listed=True)
    verdict = fault(story.until(9.0), "placed")
    assert verdict.observed == "unmanaged"
    assert (
        "does not exist: it was deleted with an earlier leader (lws#1054; delete pod"
        in verdict.reason
    )


def test_gang_that_lws_is_about_to_replace_is_no_verdict_yet() -> None:
    story = gang_placed(gang_created(Story()))
    story.tell(2.5, "workload", "ADDED", "gang", updating=True).until(9.0)
    verdict = at_deadline(story)
    assert verdict.observed == "mismatched"
    assert "LWS has not finished the update of LeaderWorkerSet/gang" in verdict.reason
    story.tell(9.5, "workload", "MODIFIED", "gang", updating=False)
    decided = judge.judge(story.recording, expect("placed"))
    assert decided is not None
    assert decided.ok


def test_pods_of_one_gang_that_name_two_pod_groups() -> None:
    story = gang_placed(gang_created(Story()))
    story.pod_group(2.0, name="podgroup-x", workload=None, group=9)
    story.tell(2.5, "pod", "MODIFIED", "gang-0-1", podGroup="podgroup-x")
    assert "unexpected PodGroup" in fault(story.until(9.0), "placed").reason


def test_an_empty_pod_group_that_volcano_left_behind_holds_nobody() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, name="podgroup-x", workload=None)
    story.tell(2.5, "podgroup", "MODIFIED", "podgroup-x", group=None)
    verdict = judge.judge(story.until(9.0).recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok


def test_pod_group_of_another_set_is_none_of_our_business() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, lws="other").until(9.0)
    verdict = judge.judge(story.recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok


def test_extra_group() -> None:
    story = gang_created(gang_placed(gang_created(Story())), at=2.5, group=1).until(9.0)
    assert "unexpected group gang-1" in fault(story, "placed").reason


def test_no_pod_group_at_all() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name, podGroup=None)
    gang_placed(story)
    assert judge.judge(story.recording, expect("placed")) is None, "the PodGroup may be late"
    verdict = fault(story.until(9.0), "placed")
    assert verdict.observed == "unmanaged"
    assert "is gang scheduling on in LWS?" in verdict.reason
    assert verdict.pod_group is None


def test_no_pod_group_kind() -> None:
    story = Story(missing={"podgroup": "Volcano is not installed"})
    for name in pods():
        story.pod(1.0, name, podGroup=None)
    verdict = fault(gang_placed(story).until(9.0), "placed")
    assert "Volcano is not installed" in verdict.reason


def test_lws_may_not_create_pod_groups() -> None:
    story = Story().pod(1.0, "gang-0", role="leader").until(60.0)
    verdict = at_deadline(story)
    assert verdict.observed == "incomplete"
    assert "1 of 4 pods exist, 0 bound" in verdict.reason
    assert "PodGroup gang-0-r1, which the pods of gang-0 name, was not created" in verdict.reason


def test_one_pod_with_another_scheduler() -> None:
    story = gang_created(Story())
    story.tell(1.3, "pod", "MODIFIED", "gang-0-2", scheduler="default-scheduler")
    verdict = fault(story.bind(1.5, "gang-0-2").until(4.0), "placed")
    assert verdict.observed == "partial"
    assert "gang-0-2 asks for another scheduler, default-scheduler" in verdict.reason


def test_one_pod_with_another_scheduler_is_no_gang_even_if_it_is_placed() -> None:
    story = gang_created(Story())
    story.tell(1.3, "pod", "MODIFIED", "gang-0", scheduler="default-scheduler")
    verdict = fault(gang_placed(story).until(9.0), "placed")
    assert verdict.observed == "mismatched"
    assert "gang-0 asks for another scheduler, default-scheduler" in verdict.reason


def test_a_scheduler_that_ignores_pod_groups_holds_nothing() -> None:
    story = gang_placed(gang_created(Story(), scheduler="default-scheduler")).until(9.0)
    assert "gang-0 asks for default-scheduler, which ignores PodGroups" in (
        fault(story, "placed").reason
    )


def test_scheduler_is_stopped() -> None:
    verdict = at_deadline(gang_created(Story()).until(60.0))
    assert verdict.observed == "ignored"
    assert "no scheduler has handled them (is volcano running?)" in verdict.reason


def test_held_expected_but_no_scheduler_looked() -> None:
    verdict = at_deadline(gang_created(Story()).until(60.0), "held")
    assert verdict.observed == "ignored"


def test_held_expected_but_placed() -> None:
    verdict = fault(gang_placed(gang_created(Story())), "held")
    assert verdict.observed == "placed"
    assert verdict.reason.startswith("gang: expected held, observed placed")


def test_placed_expected_but_held() -> None:
    story = gang_created(Story())
    for second in range(1, 26):
        story.refuse(1.0 + second, second)
    verdict = fault(story, "placed")
    assert verdict.observed == "held"
    assert "1 Insufficient cpu" in verdict.reason


def test_held_under_a_wrong_pod_group_is_not_held() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name)
    story.pod_group(1.0, minMember=2)
    for second in range(1, 6):
        story.refuse(1.0 + second, second)
    assert fault(story, "held").observed == "mismatched"


def test_partial_expected_but_everything_fitted() -> None:
    story = control(Story(), bound=4, refused=0)
    for index in range(4):
        story.run(1.5, f"no-gang-x-{index}")
    verdict = judge.judge(story.recording, expect_partial())
    assert verdict is not None
    assert (verdict.ok, verdict.observed) == (False, "placed")


def test_partial_expected_but_a_pod_group_manages_the_pods() -> None:
    story = control(Story())
    story.pod_group(1.0, name="podgroup-x", workload=None, group=0)
    for index in range(4):
        story.tell(1.1, "pod", "MODIFIED", f"no-gang-x-{index}", podGroup="podgroup-x")
    verdict = judge.judge(story.until(9.0).recording, expect_partial())
    assert verdict is not None
    assert not verdict.ok
    assert "PodGroup podgroup-x manages no-gang" in verdict.reason


def test_nothing_there() -> None:
    verdict = at_deadline(Story().until(60.0))
    assert verdict.observed == "absent"
    assert "LeaderWorkerSet/gang is not in namespace lockstep-gang" in verdict.reason


def test_a_workload_without_pods_tells_its_last_warning() -> None:
    story = Story().tell(1.0, "workload", "ADDED", "gang", replicas=1)
    story.warn(2.0, "LeaderWorkerSet/gang", "FailedCreate", "webhook\nrefused").until(60.0)
    verdict = at_deadline(story)
    assert verdict.observed == "absent"
    assert "has no pods" in verdict.reason
    assert "LeaderWorkerSet/gang FailedCreate: webhook refused" in verdict.reason


def test_bound_but_not_running() -> None:
    story = gang_created(Story())
    for name in pods():
        story.bind(2.0, name)
    verdict = at_deadline(story.until(60.0))
    assert verdict.observed == "bound"
    assert "gang-0-1 is Pending" in verdict.reason
    assert verdict.bound == 4


def test_a_drill_that_never_began_leaves_no_open_sentence() -> None:
    story = gang_placed(gang_created(Story())).until(60.0)
    verdict = judge.conclude(story.recording, expect("recreated"))
    assert verdict.observed == "bound"
    assert verdict.reason.endswith("observed bound: all pods bound and running")


def test_a_wrong_pod_group_is_named_also_just_before_the_deadline() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name)
    story.pod_group(1.0, minMember=1)
    verdict = at_deadline(gang_placed(story))
    assert verdict.observed == "unmanaged"
    assert "minMember 1, not 4" in verdict.reason


def test_a_reason_is_one_line_of_bearable_length() -> None:
    story = Story().pod(1.0, "gang-0").warn(2.0, "Pod/gang-0", "Failed", "pull\n" * 500).until(60.0)
    reason = at_deadline(story).reason
    assert "\n" not in reason
    assert len(reason) < 400


def test_a_gang_of_another_namespace_does_not_count() -> None:
    story = gang_created(Story(), namespace="elsewhere")
    assert at_deadline(gang_placed(story).until(60.0)).observed == "absent"


def test_a_gang_of_another_set_does_not_count() -> None:
    story = Story()
    for name in pods():
        story.pod(1.0, name, lws="other")
    assert at_deadline(gang_placed(story).until(60.0)).observed == "absent"


def test_a_pod_deleted_in_the_middle_leaves_a_partial_gang() -> None:
    story = gang_created(Story())
    for name in pods():
        story.bind(2.0, name)
    verdict = fault(story.delete(2.5, "gang-0-2").until(5.0), "placed")
    assert verdict.observed == "partial"
    assert "3 of 4 pods of gang-0 bound for 2.5 s after gang-0-2 terminated" in verdict.reason


def test_a_group_that_is_made_again_whole_is_no_violation() -> None:
    story = gang_created(Story())
    for name in pods():
        story.bind(2.0, name)
    story.delete(10.0, "gang-0-2")
    for name in ("gang-0", "gang-0-1", "gang-0-3"):
        story.tell(10.5, "pod", "MODIFIED", name, deleting=True)
    for name in ("gang-0", "gang-0-1", "gang-0-3"):
        story.delete(25.0, name)
    for name in pods():
        story.pod(26.0, name)
    verdict = judge.judge(gang_placed(story, at=27.0).recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok
    assert verdict.bind_skew_seconds == 0.03


def test_another_generation_with_another_size_is_a_gang_of_its_own() -> None:
    story = Story()
    for name in pods()[:2]:
        story.pod(0.0, name, node="w1", phase="Running", size=2, revision="old", listed=True)
    for name in pods()[:2]:
        story.tell(5.0, "pod", "MODIFIED", name, deleting=True)
    for name in pods()[:2]:
        story.delete(6.0, name)
    for name in pods():
        story.pod(7.0, name, size=4, revision="new")
    story.pod_group(7.0)
    verdict = judge.judge(gang_placed(story, at=8.0).recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok


def test_binds_told_late_after_a_cut_are_not_held_against_the_gang() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").watch(2.05, "cut").watch(6.0, "resumed")
    for name in pods()[1:]:
        story.bind(6.01, name)
    for name in pods():
        story.run(6.1, name)
    verdict = judge.judge(story.recording, expect("placed"))
    assert verdict is not None
    assert verdict.ok
    assert verdict.bind_skew_seconds is None
    assert any("cut from 2.050 to 6.000 s" in fact for fact in verdict.evidence)


def test_a_gang_that_stays_partial_after_a_cut_is_found() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").watch(2.05, "cut").watch(6.0, "resumed")
    assert judge.judge(story.until(7.0).recording, expect("placed")) is None
    assert fault(story.until(9.0), "placed").observed == "partial"
