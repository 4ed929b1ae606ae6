"""The state that is named at the deadline, in full, and what it names as the cause."""

from typing import Any

import pytest

from lockstep.judge import Expectation, Verdict, explain
from lockstep.judge.history import History
from tests.unit.lockstep.judge.verdicts import concluded, fault
from tests.unit.lockstep.story import (
    NAMESPACE,
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def told(
    story: Story, observed: str, reason: str, expectation: Expectation | None = None
) -> Verdict:
    """The verdict after a minute: all of its reason."""
    wanted = expectation or expect("placed")
    verdict = concluded(story.until(60.0), wanted, observed)
    head = f"{wanted.scenario}: expected {wanted.verdict}, observed {observed}: "
    assert verdict.reason == head + reason
    return verdict


def test_pending_with_what_volcano_said_which_is_no_warning_beside() -> None:
    story = gang_created(Story()).refuse(2.0, 1)
    reason = "0 of 4 pods bound: 4/4 tasks in gang unschedulable: 1 Insufficient cpu"
    assert told(story, "pending", reason).evidence == ["60.0 s passed without placed"]


def test_pending_with_the_newest_refusal_of_the_gang_itself() -> None:
    story = gang_created(gang_created(Story(), group=1))
    mine = story.uid("podgroup", "gang-0-r1")

    def said(at: float, name: str, message: str, uid: str = mine, **facts: Any) -> None:
        story.tell(
            at,
            "event",
            "ADDED",
            name,
            **{
                "count": 1,
                "reason": "Unschedulable",
                "message": message,
                "objectUid": uid,
                **facts,
            },
        )

    said(2.0, "a", "first")
    said(2.2, "c", "third")
    said(3.0, "b", "second")
    story.tell(3.0, "event", "MODIFIED", "c")  # listed at one time, written last
    said(2.5, "d", "told late")
    said(4.0, "e", "of another", story.uid("podgroup", "gang-1-r1"))
    said(5.0, "f", "of another kind", reason="Evict")
    said(6.0, "g", "expired")
    story.tell(7.0, "event", "DELETED", "g")
    told(story, "pending", "0 of 4 pods bound: third")


def test_pending_with_what_another_scheduler_said_of_a_pod() -> None:
    story = Story().members(1.0, podGroup=None).refuse_pod(2.0, "gang-0-3")
    story.warn(2.0, "Pod/gang-0-3", "FailedScheduling", "no nodes available")
    story.pod_group(1.0, lws="other").refuse(2.0, 1, group="other-0-r1")
    reason = (
        "0 of 4 pods bound: 0/3 nodes are available: 1 Insufficient cpu; "
        "no PodGroup was created for gang-0 (is gang scheduling on in LWS?)"
    )
    told(story, "pending", reason)


@pytest.mark.parametrize("members", [2, None])
def test_a_pod_group_of_too_few_members_is_a_clue(members: int | None) -> None:
    story = gang_created(Story()).phase(2.0, "Pending", minMember=members).refuse(3.0, 1)
    message = "4/4 tasks in gang unschedulable: 1 Insufficient cpu"
    reason = f"0 of 4 pods bound: {message}; PodGroup gang-0-r1 has minMember {members}"
    told(story, "pending", reason)


def test_gangs_that_are_not_expected_explain_nothing() -> None:
    story = gang_created(gang_created(Story()), group=1).refuse(2.0, 1, group="gang-1-r1")
    story.members(1.0, group=2, podGroup=None, scheduler="default-scheduler")
    for name, scheduler in zip(pods(), ("kai", "yunikorn", "a-kai", "godel"), strict=True):
        story.change(1.5, name, scheduler=scheduler)
    asked = "is a-kai or godel or kai or yunikorn running?"
    reason = f"0 of 4 pods bound, and no scheduler has handled them ({asked}); "
    told(story, "ignored", reason + "gang-0-2 asks for another scheduler, a-kai")


def test_partial_at_the_deadline() -> None:
    told(gang_created(Story()).bind(59.0, "gang-0"), "partial", "1 of 4 pods bound")


def test_a_part_without_a_lasting_refusal_is_not_accepted_as_partial() -> None:
    told(control(Story(), refused=1), "partial", "2 of 4 pods bound", expect_partial())
    story = control(Story(), bound=1).delete(3.0, "no-gang-x-3")
    told(story, "partial", "3 of 4 pods exist, 1 bound", expect_partial())


def test_bound_names_the_first_pods_that_do_not_run() -> None:
    story = Story()
    for name in reversed(pods(1)):
        story.pod(1.0, name, 1)
    story.pod_group(1.0, 1).bind(2.0, *pods(1)).change(3.0, "gang-1", phase="Unknown")
    gang_created(story).bind(4.0, *pods()).change(5.0, *pods()[2:], phase="Running")
    names = "gang-0 is Pending, gang-0-1 is Pending, gang-1 is Unknown, gang-1-1 is Pending"
    told(story, "bound", f"all pods bound, but {names}", expect("placed", groups=2))


def test_bound_and_running_names_what_is_wrong_with_the_expected_gangs() -> None:
    story = gang_placed(gang_created(Story(), scheduler="default-scheduler"))
    story.members(3.0, 1, podGroup=None, scheduler="default-scheduler")
    why = "gang-0 asks for default-scheduler, which ignores PodGroups"
    told(story, "bound", f"all pods bound and running; {why}", expect("recreated"))


def test_absent_when_the_set_was_deleted() -> None:
    story = Story().tell(1.0, "workload", "ADDED", "gang").tell(2.0, "workload", "DELETED", "gang")
    told(story, "absent", "LeaderWorkerSet/gang is not in namespace lockstep-gang")


def test_the_newest_warning_that_still_exists_is_told() -> None:
    story = Story().tell(0.5, "workload", "ADDED", "gang")
    story.warn(1.0, "Pod/a", "Failed", "pull").warn(5.0, "Pod/b", "Failed", "mount")
    story.tell(9.0, "event", "MODIFIED", "Pod/a.Failed", message="pull again")
    story.warn(10.0, "Pod/c", "Failed", "start").tell(11.0, "event", "DELETED", "Pod/c.Failed")
    story.tell(12.0, "event", "ADDED", "d", type="Normal", reason="Pulled", message="", object="")
    reason = "LeaderWorkerSet/gang has no pods (is its controller running?); "
    verdict = told(story, "absent", reason + "Pod/a Failed: pull again")
    assert verdict.evidence == ["60.0 s passed without placed", "Pod/a Failed: pull again"]


@pytest.mark.parametrize(("more", "end"), [(0, "x"), (1, "x…")])
def test_a_reason_is_cut_at_300_characters(more: int, end: str) -> None:
    head = "LeaderWorkerSet/gang is not in namespace lockstep-gang; Pod/a Failed: "
    story = Story().warn(1.0, "Pod/a", "Failed", "x" * (300 - len(head) + more))
    verdict = concluded(story, "placed", "absent")
    line = verdict.reason.removeprefix("gang: expected placed, observed absent: ")
    assert (len(line), line.startswith(head), line.endswith(end)) == (300, True, True)


@pytest.mark.parametrize(
    ("schedulers", "words"),
    [
        ("vddd", "gang-0 asks for another scheduler, v"),
        ("vvdd", "gang-0-2, gang-0-3 asks for another scheduler, d"),
    ],
)
def test_the_scheduler_that_fewer_pods_ask_for_is_the_other(schedulers: str, words: str) -> None:
    story = gang_created(Story())
    for name, scheduler in zip(pods(), schedulers, strict=True):
        story.change(1.5, name, scheduler=scheduler)
    concluded(story.until(60.0), "placed", "ignored", words)


def test_of_many_pods_eight_are_named() -> None:
    story = Story()
    for number in range(9, 0, -1):
        story.pod(1.0, f"p{number}")
    found = History.of(story.recording, NAMESPACE).pods
    assert explain.names(found[1:]) == "p1, p2, p3, p4, p5, p6, p7, p8"
    assert explain.names(found) == "p1, p2, p3, p4, p5, p6, p7, p8 and 1 more"


def test_pods_of_a_scheduler_that_may_not_hold_gangs_are_named() -> None:
    story = gang_placed(gang_created(Story(), scheduler="kai")).until(9.0)
    fault(story, "placed", "mismatched", "gang-0 asks for kai, not for volcano")
