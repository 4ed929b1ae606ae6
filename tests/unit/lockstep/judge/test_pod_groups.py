"""Gangs whose PodGroup is wrong or missing: the verdict fails and names the PodGroup."""

from typing import Any

import pytest

from lockstep import judge
from lockstep.judge import RecheckAt
from tests.unit.lockstep.judge.verdicts import accepted, at_deadline, concluded, fault, judged
from tests.unit.lockstep.story import (
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def under_pod_group(**facts: Any) -> Story:
    """A gang whose PodGroup has other facts than LWS gives it."""
    story = Story().members(1.0)
    return story.pod_group(1.0, **facts)


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


def test_wrong_min_member() -> None:
    story = under_pod_group(minMember=1)
    gang_placed(story)
    assert judge.assess(story.recording, expect("placed")) == RecheckAt(3.2)
    fault(story.until(3.2), "placed", "unmanaged", "minMember 1, not 4")


def test_min_member_of_one_is_right_when_the_leader_starts_alone() -> None:
    story = under_pod_group(minMember=1)
    accepted(gang_placed(story), expect("placed", min_member=1))


@pytest.mark.parametrize(
    ("reserved", "problems"),
    [
        ({"cpu": "6", "memory": "16Gi"}, ["cpu 6, not 4 x 2"]),
        ({"cpu": "8"}, ["memory nothing, not 4 x 4Gi"]),
        ({"cpu": "?"}, ["cpu ?, not 4 x 2", "memory nothing, not 4 x 4Gi"]),
        (None, ["cpu nothing, not 4 x 2", "memory nothing, not 4 x 4Gi"]),
    ],
)
def test_wrong_min_resources(reserved: dict[str, str] | None, problems: list[str]) -> None:
    story = gang_placed(under_pod_group(minResources=reserved)).until(9.0)
    wanted = expect("placed", requests={"memory": "4Gi", "cpu": "2"})
    verdict = fault(story, wanted, "mismatched")
    assert verdict.evidence == [f"PodGroup gang-0-r1 reserves {problem}" for problem in problems]
    assert verdict.pod_group is not None
    assert verdict.pod_group["minResources"] == (reserved or {})


@pytest.mark.parametrize(
    ("named", "changed", "found"),
    [
        ("gang-0-old", "gang-0-r1", "gang-0-old"),  # what the pods name comes first
        (None, "gang-0-old", "gang-0-r1"),  # then the newest, not the last that changed
    ],
)
def test_pod_group_that_the_pods_name_or_else_the_newest(
    named: str | None, changed: str, found: str
) -> None:
    story = Story().members(1.0, podGroup=named).pod_group(1.0, name="gang-0-old").pod_group(1.1)
    story.tell(1.2, "podgroup", "MODIFIED", changed).until(60.0)
    group = at_deadline(story, "placed", "ignored").pod_group
    assert group is not None
    assert group["name"] == found


@pytest.mark.parametrize(
    ("listed", "gone", "reason"),
    [
        (
            False,
            1.1,
            "PodGroup a of an earlier leader still existed when gang-0 was created, then it was "
            "deleted, and LWS created no other (lws#1054); delete pod gang-0 to have the group "
            "recreated",
        ),
        (
            False,
            1.0,
            "PodGroup a, which the pods of gang-0 name, was not created (does LWS have permission "
            "to create PodGroups?)",
        ),
        (
            True,
            0.5,
            "PodGroup a, which the pods of gang-0 name, does not exist: it was deleted with an "
            "earlier leader (lws#1054; delete pod gang-0 to have the group recreated), or LWS has "
            "no permission to create PodGroups",
        ),
    ],
)
def test_why_a_gang_has_no_pod_group(listed: bool, gone: float, reason: str) -> None:
    story = Story().pod_group(0.0, name="a", group=9, workload=None)
    story.tell(gone, "podgroup", "DELETED", "a")
    story.members(1.0, listed=listed, podGroup=None).change(2.0, *pods(), podGroup="b")
    story.change(2.5, "gang-0-1", podGroup="d").change(2.5, "gang-0-2", podGroup="c")
    story.pod(3.0, "extra", listed=not listed, podGroup="b")
    story.change(3.0, "gang-0", podGroup="a").pod_group(4.0, name="a", lws="other", namespace="x")
    if listed:
        story.delete(3.5, "extra")
    verdict = judge.conclude(story.until(60.0).recording, expect("placed"))
    assert verdict.reason.endswith(reason)


def test_extra_pod_group() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, name="gang-0-old").until(9.0)
    fault(story, "placed", "mismatched", "unexpected PodGroup gang-0-old")


def test_pod_group_of_a_deleted_leader_is_no_problem_until_it_is_collected() -> None:
    verdict = accepted(successor("gang-0-r0"), expect("placed"))
    assert verdict.pod_group is not None
    assert verdict.pod_group["name"] == "gang-0-r1"
    assert any("gang-0-r0, whose leader was deleted, is not" in f for f in verdict.evidence)


def test_pod_group_of_an_earlier_leader_holds_the_gang_only_until_it_is_collected() -> None:
    story = gang_placed(gang_created(Story()).own(1.2, "earlier"))
    assert isinstance(judge.assess(story.recording, expect("placed")), RecheckAt)
    verdict = fault(story.until(9.0), "placed", "unmanaged")
    assert "gang-0-r1 of gang-0 is owned by a deleted leader" in verdict.reason
    assert "lws#1054); delete pod gang-0" in verdict.reason


def test_pod_group_that_volcano_made_for_a_controller_is_no_leaders() -> None:
    story = gang_created(Story()).own(1.2, "unwatched", "StatefulSet", minMember=1)
    verdict = fault(gang_placed(story).until(9.0), "placed", "unmanaged", "has minMember 1, not 4")
    assert "leader" not in verdict.reason


def test_pod_group_that_went_before_anybody_watched() -> None:
    story = Story().members(0.0, node="w1", phase="Running", listed=True)
    verdict = fault(story.until(9.0), "placed", "unmanaged")
    assert (
        "does not exist: it was deleted with an earlier leader (lws#1054; delete pod"
        in verdict.reason
    )


def test_gang_that_lws_is_about_to_replace_is_no_verdict_yet() -> None:
    story = gang_placed(gang_created(Story()))
    story.tell(2.5, "workload", "ADDED", "gang", updating=True).until(9.0)
    at_deadline(
        story, "placed", "mismatched", "LWS has not finished the update of LeaderWorkerSet/gang"
    )
    story.tell(9.5, "workload", "MODIFIED", "gang", updating=False)
    accepted(story, expect("placed"))


def test_pods_of_one_gang_that_name_two_pod_groups() -> None:
    story = gang_placed(gang_created(Story()))
    story.pod_group(2.0, name="podgroup-x", workload=None, group=9)
    story.tell(2.5, "pod", "MODIFIED", "gang-0-1", podGroup="podgroup-x")
    fault(story.until(9.0), "placed", "mismatched", "unexpected PodGroup")


def test_pod_group_beside_its_own_that_one_pod_of_a_held_gang_names() -> None:
    story = Story().pod_group(0.5, name="podgroup-x", workload=None, group=9)
    gang_created(story).change(1.5, "gang-0-1", podGroup="podgroup-x")
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    fault(story, "held", "mismatched", "unexpected PodGroup podgroup-x")


def test_pod_group_that_only_pods_of_an_unexpected_group_name() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.5, 9, name="x", workload=None)
    story.pod(2.6, "gang-1", 1, podGroup="x").until(9.0)
    fault(story, "placed", "mismatched", "unexpected PodGroup x", "unexpected group gang-1")


def test_pod_group_that_no_pod_of_a_workload_without_gangs_names_has_no_effect() -> None:
    story = control(Story()).pod_group(1.0, 9, workload="Deployment/no-gang").until(9.0)
    accepted(story, expect_partial())


@pytest.mark.parametrize("counts", [[(2.0, 1), (2.5, 4), (5.0, 1)], [(2.0, 1), (2.0, 4), (5.0, 4)]])
def test_newest_refusal_is_the_one_that_was_written_last(counts: list[tuple[float, int]]) -> None:
    story = gang_created(Story())
    for index, (at, tasks) in enumerate([*counts, (5.0, 1)]):
        story.refuse(at, 1 if index < 2 else index, tasks=tasks)
    concluded(story, "placed", "pending", "0 of 4 pods bound: 1/1 tasks in gang unschedulable")


def test_refusal_is_told_in_the_last_words_of_its_event() -> None:
    story = gang_created(Story()).refuse(2.0, 1)
    story.tell(3.0, "event", "MODIFIED", "gang-0-r1.4", message="4/4 tasks: 3 taints", count=2)
    concluded(story, "placed", "pending", "0 of 4 pods bound: 4/4 tasks: 3 taints")


def test_an_empty_pod_group_that_volcano_left_behind_has_no_effect() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, name="podgroup-x", workload=None)
    story.tell(2.5, "podgroup", "MODIFIED", "podgroup-x", group=None)
    accepted(story.until(9.0), expect("placed"))


def test_pod_group_of_another_set_is_not_judged() -> None:
    story = gang_placed(gang_created(Story())).pod_group(2.0, lws="other").until(9.0)
    accepted(story, expect("placed"))


def test_extra_group() -> None:
    story = gang_created(gang_placed(gang_created(Story())), at=2.5, group=1)
    story.bind(3.0, "gang-1").bind(4.0, *pods(1)[1:]).until(9.0)
    verdict = fault(story, "placed", "mismatched", "unexpected group gang-1")
    assert (verdict.bound, verdict.bind_skew_seconds) == (4, 0.03)


def test_no_pod_group_at_all() -> None:
    story = Story().members(1.0, podGroup=None)
    gang_placed(story)
    assert judge.judge(story.recording, expect("placed")) is None, "the PodGroup may be late"
    verdict = fault(story.until(9.0), "placed", "unmanaged", "is gang scheduling on in LWS?")
    assert verdict.pod_group is None


def test_no_pod_group_kind() -> None:
    story = Story(missing={"podgroup": "Volcano is not installed"}).members(1.0, podGroup=None)
    fault(gang_placed(story).until(9.0), "placed", "unmanaged", "Volcano is not installed")


def test_lws_may_not_create_pod_groups() -> None:
    story = Story().pod(1.0, "gang-0", role="leader").until(60.0)
    verdict = at_deadline(story, "placed", "incomplete")
    assert "1 of 4 pods exist, 0 bound" in verdict.reason
    assert "PodGroup gang-0-r1, which the pods of gang-0 name, was not created" in verdict.reason


def test_a_scheduler_that_ignores_pod_groups_holds_nothing() -> None:
    story = gang_placed(gang_created(Story(), scheduler="default-scheduler")).until(9.0)
    reason = "gang-0 asks for default-scheduler, which ignores PodGroups"
    fault(story, "placed", "mismatched", reason)


def test_held_under_a_wrong_pod_group_is_not_held() -> None:
    story = under_pod_group(minMember=2)
    for second in range(1, 6):
        story.refuse(1.0 + second, second)
    assert fault(story, "held", "mismatched").evidence[0].startswith("0 of 4 pods bound")


def test_partial_expected_but_a_pod_group_manages_the_pods() -> None:
    story = control(Story())
    story.pod_group(1.0, name="podgroup-x", workload=None, group=0)
    for index in range(4):
        story.tell(1.1, "pod", "MODIFIED", f"no-gang-x-{index}", podGroup="podgroup-x")
    verdict = judged(story.until(9.0), expect_partial())
    assert not verdict.ok
    assert "PodGroup podgroup-x manages no-gang" in verdict.reason
    assert verdict.evidence[0] == "bound: no-gang-x-0, no-gang-x-1"


def test_pods_without_a_gang_that_a_pod_group_manages_are_placed_all_the_same() -> None:
    story = control(Story(), bound=4, refused=0).pod_group(1.0, name="x", workload=None)
    names = [f"no-gang-x-{index}" for index in range(4)]
    story.change(1.5, *names, podGroup="x").run(2.0, *names).until(9.0)
    fault(story, expect_partial(), "placed", "PodGroup x manages no-gang")


def test_one_of_two_gangs_without_a_pod_group() -> None:
    story = gang_placed(gang_placed(gang_created(gang_created(Story()), group=1)), group=1)
    story.tell(3.0, "podgroup", "DELETED", "gang-1-r1").until(9.0)
    fault(story, expect("placed", groups=2), "unmanaged")


def test_extra_group_that_only_waits_without_a_pod_group() -> None:
    story = gang_placed(gang_created(Story())).pod(2.5, "gang-1", 1, podGroup=None).until(9.0)
    fault(story, "placed", "mismatched", "unexpected group gang-1")


def test_a_wrong_pod_group_is_named_also_just_before_the_deadline() -> None:
    story = under_pod_group(minMember=1)
    at_deadline(gang_placed(story), "placed", "unmanaged", "minMember 1, not 4")
