"""Gangs that compete for room: in turns, in deadlock, under a cap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep import judge
from lockstep.judge import Expectation, RecheckAt, figures
from lockstep.judge.case import Case
from tests.unit.lockstep.crowds import crowd, deadlock, ended, taking_turns, turn
from tests.unit.lockstep.judge.verdicts import accepted, at_deadline, concluded, fault, judged
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed, pods


def serialized(groups: int = 3) -> Expectation:
    return expect("serialized", scenario="contention", groups=groups, at_once=1)


def test_serialized_when_every_gang_had_its_turn() -> None:
    verdict = accepted(taking_turns(), serialized())
    assert verdict.observed == "serialized"
    assert verdict.reason == (
        "3 gangs completed, never more than 1 at once and never a part of one; "
        "each of 3 ran, after 7.6 s at most"
    )
    assert verdict.bind_skew_seconds == 0.03
    assert verdict.measures["gangsCompleted"] == 3
    assert verdict.measures["gangsAtOnce"] == 1
    assert verdict.measures["longestHandoverSeconds"] == pytest.approx(2.03)
    assert verdict.measures["longestWaitSeconds"] == pytest.approx(7.63, abs=0.01)
    assert verdict.evidence == [
        "gang-0 was complete from 2.030 s to 3.000 s, after a wait of 1.030 s",
        "gang-1 was complete from 5.030 s to 6.000 s, after a wait of 4.029 s",
        "gang-2 was complete from 8.030 s to 9.000 s, after a wait of 7.028 s",
        "gang-0 was complete from 11.030 s to the end, after a wait of 7.630 s",
        "the next gang was completely bound at most 2.030 s after one ended",
        "pods held their places for 19.5 pod-seconds in complete gangs, for 0.2 in gangs that were "
        "not complete yet, and for 1.8 in gangs that ended",
    ]


def test_serialized_from_a_gang_that_ran_before_the_recording() -> None:
    story = crowd(2)
    for name in pods(2):
        role = "leader" if name == "gang-2" else "worker"
        story.pod(0.0, name, 2, role=role, listed=True, node="w1", phase="Running")
    story.pod_group(0.0, 2)
    ended(story, 2.0, 2)
    gang_created(story, 2.5, 2)
    turn(story, 3.0, 0)
    verdict = judged(gang_placed(story, 8.0, 1), serialized())
    assert "gang-2 was complete from 0.000 s to 2.000 s, and already before" in verdict.evidence[0]
    assert verdict.measures["longestHandoverSeconds"] == pytest.approx(4.03)


def test_serialized_counts_what_places_were_held_for() -> None:
    measures = judged(taking_turns(), serialized()).measures
    # Three turns of 0.97 s and the last run of 1.97 s, by four pods each.
    assert measures["podSecondsUseful"] == pytest.approx(4 * (3 * 0.97 + 1.97), abs=0.01)
    # Four bursts in which three, two and one pods waited for the rest for 0.01 s each.
    assert measures["podSecondsWasted"] == pytest.approx(4 * 0.06, abs=0.001)
    # Three ends in which the workers went 0.1, 0.2 and 0.3 s after their leader.
    assert measures["podSecondsEnding"] == pytest.approx(3 * 0.6, abs=0.001)


def test_a_gang_that_is_completely_bound_wastes_nothing_though_it_does_not_run_yet() -> None:
    story = crowd(1).bind(2.0, *pods(0)).until(5.0)
    case = Case.of(story.recording, serialized(1))
    runs = figures.runs(case.history, case.gangs)
    measured = figures.crowd_figures(case.history, case.gangs, runs)
    assert not runs[0].ran
    assert (measured["podSecondsUseful"], measured["podSecondsWasted"]) == (12.0, 0.0)


def test_a_gang_that_never_runs_has_no_turn() -> None:
    story = gang_placed(crowd(2), 2.0, 0)
    ended(story, 3.0, 0)
    gang_created(story, 3.5, 0)
    story.bind(4.0, *pods(1))
    concluded(story.until(60.0), serialized(2), "starved")


def test_not_serialized_before_every_gang_had_a_turn() -> None:
    story = crowd(3)
    turn(story, 2.0, 0)
    story.pod(1.0, "gang-9", 9, podGroup=None)  # of a gang not expected
    starved = "1 of 3 gangs ran; gang-1, gang-2 never did"
    assert at_deadline(story.until(4.0), serialized(), "starved", starved).evidence == [
        "gang-0 was complete from 2.030 s to 3.000 s, after a wait of 1.030 s",
        starved,
    ]
    turn(story, 5.0, 1)
    at_deadline(story.until(7.0), serialized(), "starved", "2 of 3 gangs ran; gang-2 never did")


def test_not_serialized_when_nothing_runs_after_the_last_turn() -> None:
    story = crowd(2)
    turn(story, 2.0, 0)
    turn(story, 5.0, 1)
    reason = "no gang ran after gang-1 ended at 6.000 s"
    at_deadline(story.until(9.0), serialized(2), "stalled", reason)


def test_gangs_that_no_scheduler_handles_are_ignored() -> None:
    concluded(crowd(2).until(60.0), serialized(2), "ignored")


def test_gangs_that_all_run_at_once_do_not_contend() -> None:
    story = gang_placed(gang_placed(crowd(2), 2.0, 0), 2.1, 1)
    fault(story, serialized(2), "placed", "all gangs ran at once: there was room for all")


def test_a_part_of_a_waiting_gang_breaks_the_turns() -> None:
    story = gang_placed(crowd(2), 2.0, 0)
    story.bind(3.0, "gang-1")
    assert isinstance(judge.assess(story.until(4.0).recording, serialized(2)), RecheckAt)
    fault(story.until(5.5), serialized(2), "partial", "1 of 4 pods of gang-1 bound for 2.5 s")


def test_a_gang_bound_too_slowly_breaks_the_turns_also_when_it_is_complete_later() -> None:
    story = crowd(2)
    for at, name in zip((2.0, 2.1, 2.2, 4.5), pods(0), strict=True):
        story.bind(at, name)
    fault(story, serialized(2), "torn")


def test_the_end_of_a_gang_may_take_its_time() -> None:
    story = gang_placed(crowd(2), 2.0, 0)
    ended(story, 3.0, 0, last=6.0)
    gang_created(story, 9.5, 0)
    turn(story, 10.0, 1)
    gang_placed(story, 13.0, 0)
    verdict = accepted(story, serialized(2))
    assert verdict.measures["podSecondsEnding"] == pytest.approx(2 + 4 + 6 + 0.6, abs=0.01)


def test_a_group_recreated_without_a_pod_group_is_a_mismatch() -> None:
    story = taking_turns()
    story.tell(12.0, "podgroup", "DELETED", "gang-2-r1").change(12.0, "gang-2")
    story.pod(12.5, "gang-9", 9, podGroup=None)  # of a gang not expected
    assert judge.assess(story.until(21.9).recording, serialized()) == RecheckAt(22.0)
    concluded(story, serialized(), "mismatched")
    verdict = fault(story.until(22.0), serialized(), "mismatched")
    assert verdict.evidence[0].startswith("gang-0 was complete from")
    assert (
        "PodGroup gang-2-r1 of an earlier leader still existed when gang-2 was created, then it "
        "was deleted, and LWS created no other (lws#1054)"
    ) in verdict.reason


def deadlocked(groups: int = 3) -> Expectation:
    return expect("deadlocked", scenario="contention-control", groups=groups, gang=False)


def test_deadlocked_when_it_lasts() -> None:
    story = deadlock()
    assert judge.assess(story.until(4.0).recording, deadlocked()) == RecheckAt(5.0)
    verdict = accepted(story.until(12.0), deadlocked())
    assert verdict.observed == "deadlocked"
    assert verdict.reason == (
        "3 gangs hold 4 places and none of them is complete: 40.0 pod-seconds wasted in 10.0 s"
    )
    assert verdict.measures["gangsCompleted"] == 0
    assert verdict.measures["podSecondsWasted"] == pytest.approx(40.0)
    assert verdict.measures["podSecondsUseful"] == 0
    assert verdict.measures["longestWaitSeconds"] == pytest.approx(11.0)
    assert verdict.bind_skew_seconds is None
    assert "gang-2: 2 of 4 pods bound (gang-2, gang-2-1)" in verdict.evidence


def test_deadlocked_with_two_gangs_partly_bound_shows_who_holds_what() -> None:
    story = deadlock((1, 0, 2)).change(3.0, "gang-0-1", node="w1")
    story.pod(1.0, "gang-9", 9, podGroup=None).bind(4.0, "gang-9")  # of a gang not expected
    assert judge.assess(story.until(5.0).recording, deadlocked()) == RecheckAt(6.0)
    verdict = accepted(story.until(6.0), deadlocked())
    assert verdict.reason == (
        "2 gangs hold 4 places and none of them is complete: 15.0 pod-seconds wasted in 4.0 s"
    )
    assert verdict.evidence == [
        "gang-0: 2 of 4 pods bound (gang-0, gang-0-1)",
        "gang-1: 0 of 4 pods bound",
        "gang-2: 2 of 4 pods bound (gang-2, gang-2-1)",
        "refused: gang-0-2, gang-0-3, gang-1, gang-1-1, gang-1-2, gang-1-3, gang-2-2, gang-2-3",
        "because: 0/3 nodes are available: 1 Insufficient cpu",
    ]


def test_not_deadlocked_while_a_gang_lacks_a_pod() -> None:
    story = deadlock().delete(3.0, "gang-1-3").pod(3.0, "gang-0-4", unschedulable="no room")
    assert judge.judge(story.until(30.0).recording, deadlocked()) is None


def test_one_partly_bound_gang_is_no_deadlock() -> None:
    assert judge.judge(deadlock((3, 0, 0)).until(30.0).recording, deadlocked()) is None


def test_not_deadlocked_while_a_pod_is_not_refused() -> None:
    story = deadlock()
    story.tell(3.0, "pod", "MODIFIED", "gang-1-1", unschedulable=None)
    assert judge.judge(story.until(30.0).recording, deadlocked()) is None


def test_not_deadlocked_when_a_gang_ran() -> None:
    story = deadlock((4, 4, 1))
    story.run(2.5, *pods(0))
    reason = "gang-0, gang-1 was completely bound"
    verdict = fault(story.until(3.0), deadlocked(), "progressed", reason)
    assert verdict.measures["gangsAtOnce"] == 2


def test_a_deadlock_under_pod_groups_proves_nothing() -> None:
    story = deadlock().pod_group(1.1)
    verdict = fault(story.until(30.0), deadlocked(), "mismatched")
    assert verdict.evidence[0] == "gang-0: 1 of 4 pods bound (gang-0)"


@given(
    bursts=st.lists(st.floats(0.0, 0.5), min_size=4, max_size=4),
    work=st.floats(0.6, 5.0),
    last=st.floats(0.0, 3.0),
    rest=st.floats(0.0, 9.0),
)
def test_every_second_of_a_place_is_counted_once(
    bursts: list[float], work: float, last: float, rest: float
) -> None:
    story = crowd(2)
    for delay, name in zip(bursts, pods(0), strict=True):
        story.bind(2.0 + delay, name)
    story.run(2.6, *pods(0))
    ended(story, 2.6 + work, 0, last)
    story.bind(9.0, "gang-1")
    story.until(12.0 + rest)
    case = Case.of(story.recording, serialized(2))
    runs = figures.runs(case.history, case.gangs)
    measured = figures.crowd_figures(case.history, case.gangs, runs)
    left = [2.6 + work, *(2.6 + work + last * index / 3 for index in (1, 2, 3))]
    held = sum(left) - sum(2.0 + delay for delay in bursts) + (3.0 + rest)
    counted = sum(measured[f"podSeconds{what}"] for what in ("Useful", "Wasted", "Ending"))
    assert counted == pytest.approx(held)


def bound_after_a_loss(story: Story, at: float, group: int, gone: float) -> Story:
    """A gang that loses a pod in the middle of its burst, and is complete with another."""
    _, lost, *others = pods(group)
    story.bind(at, f"gang-{group}", lost).delete(at + gone, lost).pod(at + gone, lost, group)
    return story.bind(at + 1.0, lost, *others).run(at + 1.2, *pods(group))


@pytest.mark.parametrize("gone", [0.3, 1.0])
def test_gang_that_lost_a_pod_before_it_was_complete_runs_from_then_on(gone: float) -> None:
    story = gang_placed(bound_after_a_loss(crowd(2), 2.0, 0, gone), 3.5, 1)
    fault(story.until(30.0), serialized(2), "placed", "all gangs ran at once")
    assert figures.most_places(Case.of(story.recording, serialized(2)).wanted) == (8, 8)


def test_lws_may_take_some_seconds_to_recreate_a_group() -> None:
    story = ended(gang_placed(taking_turns(), 12.0, 1), 12.5, 1).until(20.0)
    assert isinstance(judge.assess(story.recording, serialized()), RecheckAt)
    accepted(gang_created(story, 20.0, 1), serialized())
