"""`capped`: a queue that admits fewer gangs than would fit."""

from lockstep import judge
from lockstep.judge import Expectation
from tests.unit.lockstep.crowds import crowd, ended, turn
from tests.unit.lockstep.judge.verdicts import accepted, at_deadline, concluded, fault
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed


def capped(groups: int = 3, cap: int = 2) -> Expectation:
    return expect("capped", scenario="queue-cap", groups=groups, at_once=cap, queue="narrow")


def in_queue(story: Story, groups: int = 3, queue: str = "narrow") -> Story:
    for group in range(groups):
        story.tell(1.5, "podgroup", "MODIFIED", f"gang-{group}-r1", queue=queue)
    return story


def queued(reason: bool = True, last: float = 0.3) -> Story:
    """Two gangs run; the third does when the first has ended, then the first again."""
    story = in_queue(crowd(3))
    if reason:
        message = "queue resource quota insufficient: insufficient cpu"
        story.warn(1.8, "PodGroup/gang-2-r1", "Unschedulable", message)
    gang_placed(gang_placed(story, 2.0, 0), 2.1, 1)
    ended(story, 3.0, 0, last)
    gang_created(story, 3.2 + last, 0)
    story.tell(3.3 + last, "podgroup", "MODIFIED", "gang-0-r1", queue="narrow")
    return gang_placed(story, 4.0, 2)


def test_capped_when_the_queue_keeps_a_gang_waiting_and_says_so() -> None:
    verdict = accepted(queued(), capped())
    assert verdict.observed == "capped"
    assert verdict.reason == (
        "never more than 2 of 3 gangs ran at once, though there was room for all; each of 3 ran"
    )
    assert verdict.measures["gangsAtOnce"] == 2
    assert verdict.bind_skew_seconds == 0.03
    assert verdict.evidence == [
        "queue narrow admits 2 gangs",
        "PodGroup/gang-2-r1 Unschedulable: queue resource quota insufficient: insufficient cpu",
        "gang-0 was complete from 2.030 s to 3.000 s, after a wait of 1.030 s",
        "gang-1 was complete from 2.130 s to the end, after a wait of 1.129 s",
        "gang-2 was complete from 4.030 s to the end, after a wait of 3.028 s",
    ]


def test_pods_of_a_gang_that_ends_are_told_but_not_held_against_the_queue() -> None:
    story = queued(last=2.5)
    verdict = accepted(story, capped())
    assert any("while a gang ended, 10 pods held a place" in line for line in verdict.evidence)


def test_capped_needs_a_reason() -> None:
    story = queued(reason=False).warn(1.8, "Pod/gang-2", "Failed", "queue is full").until(30.0)
    story.warn(1.8, "PodGroup/gang-2-r1", "Unschedulable", "no room")
    reason = "no event says that the queue kept a gang waiting"
    at_deadline(story, capped(), "starved", reason)


def test_exceeded_as_soon_as_one_pod_too_many_has_a_place() -> None:
    story = gang_placed(gang_placed(in_queue(crowd(3)), 2.0, 0), 2.1, 1)
    assert judge.judge(story.recording, capped()) is None
    gang_placed(story, 2.5, 2)
    fault(story, capped(), "exceeded", "12 pods held a place at once in a queue that admits 8")


def test_a_cap_that_was_never_reached_was_not_tested() -> None:
    story = in_queue(crowd(3))
    for group in range(3):
        turn(story, 2.0 + 3.0 * group, group)
        story.tell(3.9 + 3.0 * group, "podgroup", "MODIFIED", f"gang-{group}-r1", queue="narrow")
    gang_placed(story, 11.0, 0)
    reason = "only 1 of the 2 gangs that the queue admits ran at once"
    concluded(story, capped(), "starved", reason)


def test_a_pod_group_in_another_queue_is_a_mismatch() -> None:
    story = in_queue(in_queue(crowd(3)), queue="wide")
    reason = "PodGroup gang-0-r1 is in queue wide, not narrow"
    verdict = fault(story, capped(), "mismatched", reason)
    assert verdict.evidence == ["0 of 3 gangs ran; gang-0, gang-1, gang-2 never did"]


def test_a_reason_counts_also_when_its_event_has_expired() -> None:
    story = queued()
    story.tell(4.5, "event", "DELETED", "PodGroup/gang-2-r1.Unschedulable")
    accepted(story, capped())


def test_a_queue_without_gangs_is_not_judged_by_its_cap() -> None:
    concluded(in_queue(crowd(3)).until(60.0), capped(), "ignored")
    story = in_queue(crowd(3)).bind(2.0, "gang-0").until(9.0)
    fault(story, capped(), "partial", "1 of 4 pods of gang-0 bound for 7.0 s")


def test_a_gang_that_never_ran_under_a_cap_starved() -> None:
    story = gang_placed(gang_placed(in_queue(crowd(3)), 2.0, 0), 2.1, 1).until(30.0)
    at_deadline(story, capped(), "starved", "2 of 3 gangs ran; gang-2 never did")


def test_a_gang_that_lost_its_pod_group_under_a_cap_is_a_mismatch() -> None:
    story = queued().tell(4.5, "podgroup", "DELETED", "gang-2-r1").until(18.0)
    fault(story, capped(), "mismatched", "gang-2")
