"""Every way to fail, each with the reason that names it."""

import pytest

from lockstep import judge
from lockstep.judge import RecheckAt
from tests.unit.lockstep.judge.verdicts import accepted, at_deadline, concluded, fault
from tests.unit.lockstep.story import (
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def test_partly_bound_for_longer_than_a_burst_is_a_violation() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").bind(2.1, "gang-0-1")
    waiting = judge.assess(story.until(3.5).recording, expect("placed"))
    assert isinstance(waiting, RecheckAt)
    assert waiting.at == pytest.approx(4.0, abs=0.01)
    verdict = fault(story.until(5.1), "placed", "partial")
    assert verdict.reason == (
        "gang: expected placed, observed partial: 2 of 4 pods of gang-0 bound for 3.1 s"
    )
    assert "bound: gang-0, gang-0-1" in verdict.evidence
    assert "not bound: gang-0-2, gang-0-3" in verdict.evidence
    assert any("from 2.000 s to the end" in fact for fact in verdict.evidence)


@pytest.mark.parametrize("verdict", ["released", "held"])
def test_a_partly_bound_gang_fails_every_verdict_of_a_gang(verdict: str) -> None:
    fault(gang_created(Story()).bind(2.0, "gang-0").until(9.0), verdict, "partial")


def test_next_look_is_when_the_first_of_two_gangs_may_be_torn() -> None:
    story = gang_created(gang_created(Story()), group=1).bind(2.0, "gang-0").bind(2.5, "gang-1")
    assert judge.assess(story.recording, expect("placed", groups=2)) == RecheckAt(4.001)


def test_partly_bound_then_recovered_is_still_a_violation() -> None:
    story = gang_created(Story())
    for at, name in zip((2.0, 2.1, 5.0, 5.1), pods(), strict=True):
        story.bind(at, name)
    story.run(5.2, *pods())
    verdict = fault(story, "placed", "torn", "bound for 3.1 s")
    assert any("from 2.000 s to 5.100 s" in fact for fact in verdict.evidence)


def test_evidence_names_the_pods_that_were_bound_in_the_stretch() -> None:
    story = gang_placed(gang_created(Story())).delete(10.0, "gang-0-2").pod(11.0, "gang-0-2")
    verdict = fault(story.bind(56.0, "gang-0-2"), "placed", "torn")
    assert "3 of 4 pods of gang-0 bound for 46.0 s after gang-0-2 terminated" in verdict.reason
    assert "bound: gang-0, gang-0-1, gang-0-3" in verdict.evidence
    assert "not bound: gang-0-2" in verdict.evidence
    story = gang_created(Story()).bind(2.0, "gang-0-3", "gang-0-1")
    verdict = fault(story.delete(9.0, *pods()), "placed", "torn", "2 of 4 pods")
    assert verdict.evidence[:3] == [
        "gang-0 was partly bound from 2.000 s to 9.000 s",
        "bound: gang-0-1, gang-0-3",
        "not bound: pods that do not exist",
    ]
    story = gang_created(Story()).bind(2.0, "gang-0").bind(5.0, "gang-0-1")
    fault(story, "placed", "partial", "2 of 4 pods")
    fault(story.delete(5.2, "gang-0-1").until(4.5), "placed", "partial", "1 of 4 pods")


def test_order_of_binds_is_not_that_of_the_pods() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0-3").bind(5.0, *pods()[:3]).run(5.1, *pods())
    fault(story, "placed", "torn", "1 of 4 pods of gang-0 bound for 3.0 s")


def test_gang_that_was_found_partly_bound_and_still_is() -> None:
    story = Story().members(0.0, listed=True)
    story.pod_group(0.0, listed=True).tell(0.0, "pod", "MODIFIED", "gang-0", listed=True, node="w1")
    assert isinstance(judge.assess(story.until(1.9).recording, expect("placed")), RecheckAt)
    words = "1 of 4 pods of gang-0 bound for 2.5 s, and already when the recording began"
    fault(story.until(2.5), "placed", "partial", words)


def test_pods_that_were_never_bound_do_not_hide_a_gang_that_is_torn() -> None:
    story = gang_created(Story()).delete(2.0, *pods()).tell(2.0, "podgroup", "DELETED", "gang-0-r1")
    story = gang_created(story, 3.0).bind(4.0, "gang-0").bind(7.0, *pods()[1:]).run(7.1, *pods())
    fault(story, "placed", "torn", "1 of 4 pods of gang-0 bound for 3.0 s")


def test_pod_that_was_told_late_as_it_ended_does_not_hide_a_gang_that_is_torn() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0")
    story.tell(
        5.0,
        "pod",
        "ADDED",
        "gang-0-4",
        late=4.0,
        node="w1",
        deleting=True,
        phase="Running",
        workload="LeaderWorkerSet/gang",
        group="gang-0",
        role="worker",
    )
    story.bind(5.0, *pods()[1:])
    fault(story, "placed", "torn", "of gang-0 bound for 3.0 s")


def test_pods_of_two_templates_are_no_gang() -> None:
    story = Story().pod(1.0, "gang-0", role="leader", revision="r1").pod_group(1.0)
    story.pod(1.0, "gang-0-1", revision="r1")
    story.pod(1.0, "gang-0-2", revision="r2").pod(1.0, "gang-0-3", revision="r2")
    fault(gang_placed(story).until(9.0), "placed", "partial", "2 of 4 pods of gang-0 bound")


def test_one_pod_with_another_scheduler() -> None:
    story = gang_created(Story())
    story.tell(1.3, "pod", "MODIFIED", "gang-0-2", scheduler="default-scheduler")
    verdict = fault(story.bind(1.5, "gang-0-2").until(4.0), "placed", "partial")
    assert "gang-0-2 asks for another scheduler, default-scheduler" in verdict.reason
    assert "gang-0-2 asks for another scheduler, default-scheduler" in verdict.evidence


def test_one_pod_with_another_scheduler_is_no_gang_even_if_it_is_placed() -> None:
    story = gang_created(Story())
    story.tell(1.3, "pod", "MODIFIED", "gang-0", scheduler="default-scheduler")
    verdict = fault(gang_placed(story).until(9.0), "placed", "mismatched")
    assert "gang-0 asks for another scheduler, default-scheduler" in verdict.reason


def test_scheduler_is_stopped() -> None:
    verdict = at_deadline(gang_created(Story()).until(60.0), "placed", "ignored")
    assert "no scheduler has handled them (is volcano running?)" in verdict.reason


def test_held_expected_but_placed() -> None:
    verdict = fault(gang_placed(gang_created(Story())), "held", "placed")
    assert verdict.reason.startswith("gang: expected held, observed placed")


@pytest.mark.parametrize("verdict", ["placed", "released"])
def test_placed_expected_but_held(verdict: str) -> None:
    story = gang_created(Story())
    for second in range(1, 26):
        story.refuse(1.0 + second, second)
    fault(story, verdict, "held", "1 Insufficient cpu")


def test_partial_expected_but_held_by_a_pod_group() -> None:
    story = control(Story(), bound=0, refused=4).pod_group(1.0, name="podgroup-x")
    story.change(1.3, *(f"no-gang-x-{index}" for index in range(4)), podGroup="podgroup-x")
    for second in range(1, 26):
        story.refuse(1.0 + second, second, group="podgroup-x")
    fault(story, expect_partial(), "mismatched", "PodGroup podgroup-x manages no-gang")


def test_partial_expected_but_everything_fitted() -> None:
    story = control(Story(), bound=4, refused=0)
    for index in range(4):
        story.run(1.5, f"no-gang-x-{index}")
    fault(story, expect_partial(), "placed")


def test_nothing_there() -> None:
    verdict = at_deadline(Story().until(60.0), "placed", "absent")
    assert "LeaderWorkerSet/gang is not in namespace lockstep-gang" in verdict.reason


def test_a_workload_without_pods_tells_its_last_warning() -> None:
    story = Story().tell(1.0, "workload", "ADDED", "gang", replicas=1)
    story.warn(2.0, "LeaderWorkerSet/gang", "FailedCreate", "webhook\nrefused").until(60.0)
    verdict = at_deadline(story, "placed", "absent")
    assert "has no pods" in verdict.reason
    assert "LeaderWorkerSet/gang FailedCreate: webhook refused" in verdict.reason


def test_bound_but_not_running() -> None:
    story = gang_created(Story())
    story.bind(2.0, *pods())
    verdict = at_deadline(story.until(60.0), "placed", "bound", "gang-0-1 is Pending")
    assert verdict.bound == 4


def test_a_drill_that_never_began_leaves_no_open_sentence() -> None:
    story = gang_placed(gang_created(Story())).until(60.0)
    verdict = concluded(story, expect("recreated"), "bound")
    assert verdict.reason.endswith("observed bound: all pods bound and running")


def test_a_reason_is_one_line_of_bearable_length() -> None:
    story = Story().pod(1.0, "gang-0").warn(2.0, "Pod/gang-0", "Failed", "pull\n" * 500).until(60.0)
    reason = at_deadline(story, "placed", "incomplete").reason
    assert "\n" not in reason
    assert len(reason) < 400


def test_a_gang_of_another_namespace_does_not_count() -> None:
    story = gang_created(Story(), namespace="elsewhere")
    at_deadline(gang_placed(story).until(60.0), "placed", "absent")


def test_a_gang_of_another_set_does_not_count() -> None:
    story = Story().members(1.0, lws="other")
    at_deadline(gang_placed(story).until(60.0), "placed", "absent")


def test_a_pod_deleted_in_the_middle_leaves_a_partial_gang() -> None:
    story = gang_created(Story())
    story.bind(2.0, *pods())
    story.delete(2.5, "gang-0-2").until(47.5)
    assert judge.assess(story.recording, expect("placed")) == RecheckAt(47.501)
    verdict = fault(story.until(48.0), "placed", "partial")
    assert "3 of 4 pods of gang-0 bound for 45.5 s after gang-0-2 terminated" in verdict.reason


def test_a_group_that_is_recreated_completely_is_no_violation() -> None:
    story = gang_created(Story())
    story.bind(2.0, *pods())
    story.delete(10.0, "gang-0-2")
    story.change(10.5, *("gang-0", "gang-0-1", "gang-0-3"), deleting=True)
    story.delete(25.0, *("gang-0", "gang-0-1", "gang-0-3"))
    story.tell(25.1, "podgroup", "DELETED", "gang-0-r1")
    gang_created(story, at=26.0)
    verdict = accepted(gang_placed(story, at=27.0), expect("placed"))
    assert verdict.bind_skew_seconds == 0.03


def test_another_generation_with_another_size_is_a_gang_of_its_own() -> None:
    story = Story()
    for name in pods()[:2]:
        story.pod(0.0, name, node="w1", phase="Running", size=2, revision="old", listed=True)
    story.change(5.0, *pods()[:2], deleting=True)
    story.delete(6.0, *pods()[:2])
    story.members(7.0, size=4, revision="new")
    story.pod_group(7.0)
    accepted(gang_placed(story, at=8.0), expect("placed"))


def test_binds_told_late_after_a_short_cut_have_no_skew() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").watch(2.05, "cut").watch(3.0, "resumed")
    for name in pods()[1:]:
        story.tell(3.01, "pod", "MODIFIED", name, listed=True, late=1.1, node="w1")._report_bind(
            3.01, name
        )
    story.run(3.1, *pods())
    verdict = accepted(story, expect("placed"))
    assert verdict.bind_skew_seconds is None
    assert any("cut from 2.050 to 3.000 s" in fact for fact in verdict.evidence)


@pytest.mark.parametrize(("late", "observed"), [(4.0, "unproven"), (1.0, "torn")])
def test_binds_told_late_are_neither_held_against_the_gang_nor_believed(
    late: float, observed: str
) -> None:
    story = gang_created(Story()).bind(2.0, "gang-0")
    for name in pods()[1:]:
        story.tell(6.0, "pod", "MODIFIED", name, late=late, node="w1")._report_bind(6.0, name)
    fault(story.run(6.1, *pods()), "placed", observed)


def test_a_gang_that_was_seen_whole_after_a_long_gap_is_unproven() -> None:
    story = gang_created(Story())
    for name in pods():
        story.tell(6.0, "pod", "MODIFIED", name, late=4.0, node="w1")._report_bind(6.0, name)
    fault(story.run(6.1, *pods()), "placed", "unproven", "may have been bound in up to 4.0 s")


def test_a_gang_that_stays_partial_after_a_cut_is_found() -> None:
    story = gang_created(Story()).bind(2.0, "gang-0").watch(2.05, "cut").until(3.9)
    assert judge.judge(story.recording, expect("placed")) is None
    fault(story.watch(6.0, "resumed").until(6.1), "placed", "partial")


def test_gang_that_is_found_partly_bound_may_still_be_about_to_end() -> None:
    story = Story()
    for index, name in enumerate(pods()):
        role = "worker" if index else "leader"
        story.pod(0.0, name, role=role, listed=True, node=None if index else "w1")
    story.pod_group(0.0, listed=True)
    assert judge.assess(story.until(1.9).recording, expect("held")) == RecheckAt(2.001)
