"""The incarnations of a group, in whatever order its pods are created and deleted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.judge import drill_marks
from lockstep.judge.groups import Incarnation, incarnations, pod_group_of
from lockstep.judge.history import History
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.story import NAMESPACE, expect, pods

EXPECTATION = expect("recreated")


def incarnations_of(story: DrillStory) -> list[Incarnation]:
    history = History.of(story.recording, NAMESPACE)
    return incarnations(history.gangs(EXPECTATION)[0])


@given(st.integers(1, 6))
def test_each_leader_begins_an_incarnation_with_its_own_workers(times: int) -> None:
    story = DrillStory()
    for number in range(times):
        story.whole(10.0 * number)
        if number < times - 1:
            story.gone(10.0 * number + 5.0)
    found = incarnations_of(story)
    assert [life.began for life in found] == [10.0 * number for number in range(times)]
    assert all(sorted(pod.name for pod in life.pods) == pods() for life in found)
    assert [life.is_complete for life in found] == [False] * (times - 1) + [True]
    assert len({pod.first.uid for life in found for pod in life.pods}) == 4 * times


@given(st.lists(st.floats(1.0, 9.0), min_size=4, max_size=4), st.floats(0.0, 12.0))
def test_binding_lasts_from_the_first_bind_to_the_last(times: list[float], end: float) -> None:
    story = DrillStory().leader(0.5)
    story.own_pod_group(0.5)
    story.workers(0.6)
    for at, name in sorted(zip(times, pods(), strict=True)):
        story.bind(at, name)
    (life,) = incarnations_of(story)
    burst = life.binding(end)
    assert burst is not None
    assert (burst.start, burst.end) == (min(times), max(times))


def test_binding_of_a_group_that_was_never_completely_bound_ends_with_its_last_pod() -> None:
    story = DrillStory().leader(1.0)
    story.workers(1.0)
    story.bind(2.0, "gang-0", "gang-0-1")
    (life,) = incarnations_of(story)
    burst = life.binding(9.0)
    assert burst is not None
    assert (burst.end, burst.open) == (9.0, True)
    (life,) = incarnations_of(story.delete(4.0, "gang-0").delete(5.0, "gang-0-1"))
    for end in (5.0, 9.0):
        burst = life.binding(end)
        assert burst is not None
        assert (burst.end, burst.open) == (5.0, False)


def test_replaced_worker_belongs_to_the_leader_that_stayed() -> None:
    story = DrillStory().whole(1.0)
    story.delete(5.0, "gang-0-2")
    story.pod(5.1, "gang-0-2").bind(5.2, "gang-0-2").run(5.3, "gang-0-2")
    (life,) = incarnations_of(story)
    assert len(life.pods) == 5
    assert life.is_complete


def test_phases_end_with_the_next_mark_or_the_recording() -> None:
    story = DrillStory().mark(1.0, "a", "first").mark(4.0, "b", "other").mark(6.0, "a", "second")
    found = drill_marks.phases(History.of(story.until(9.0).recording, NAMESPACE), ("a",))
    assert [(phase.text, phase.end) for phase in found] == [("first", 4.0), ("second", 9.0)]


@pytest.mark.parametrize(
    ("then", "shortest"),
    [
        ({}, 7.0),  # still partly bound at 9.0
        ({"node": "w1"}, 2.5),
        ({"deleting": True}, 2.5),
    ],
)
def test_binding_is_as_long_as_the_lateness_of_its_changes_allows(
    then: dict[str, Any], shortest: float
) -> None:
    story = DrillStory().leader(0.5).workers(0.6)
    for name, late in (("gang-0", 1.0), ("gang-0-1", 0.5)):
        story.tell(2.0, "pod", "MODIFIED", name, node="w1", late=late)
    if then:
        names = ("gang-0", "gang-0-1") if "deleting" in then else ("gang-0-2", "gang-0-3")
        for name, late in zip(names, (0.5, 0.0), strict=True):
            story.tell(5.0, "pod", "MODIFIED", name, late=late, **then)
    (life,) = incarnations_of(story)
    burst = life.binding(9.0)
    assert burst is not None
    assert burst.at_least == shortest
    assert burst.at_most == burst.end - 2.0 + 1.0


def test_pod_that_was_found_terminating_does_not_begin_the_binding() -> None:
    story = DrillStory().leader(0.0).look(0.0)
    story.pod(0.0, "gang-0-1", node="w1", deleting=True, listed=True).delete(0.5, "gang-0-1")
    (life,) = incarnations_of(story.workers(1.0).bind(5.0, *pods()))
    burst = life.binding(9.0)
    assert burst is not None
    assert (burst.start, burst.end) == (5.0, 5.0)


def test_group_is_complete_when_all_its_pods_run_from_the_moment_of_the_last() -> None:
    story = DrillStory().leader(1.0).workers(1.0).bind(2.0, *pods()).run(3.0, *pods()[1:])
    (life,) = incarnations_of(story)
    assert not life.is_complete
    (life,) = incarnations_of(story.run(4.0, "gang-0"))
    assert life.is_complete
    assert [life.was_complete_at(at) for at in (3.9, 4.0)] == [False, True]


def test_worker_that_outlives_its_leader_is_not_of_the_next_one() -> None:
    story = DrillStory().whole(1.0).delete(5.0, "gang-0").leader(5.1).delete(5.5, *pods()[1:])
    first, second = incarnations_of(story)
    assert [len(first.pods), len(second.pods)] == [4, 1]


def test_workers_belong_to_the_leader_that_exists_of_two_of_one_instant() -> None:
    story = DrillStory().leader(1.0).delete(1.0, "gang-0").leader(1.0).workers(1.0)
    first, second = incarnations_of(story)
    assert (len(first.pods), first.leader.alive) == (1, False)
    assert (len(second.pods), second.leader.alive) == (4, True)


def test_size_of_a_group_is_what_its_leader_says() -> None:
    story = DrillStory().pod(1.0, "gang-0", role="leader", size=2).pod(1.1, "gang-0-1", size=2)
    (life,) = incarnations_of(story.bind(2.0, "gang-0", "gang-0-1"))
    assert (life.size, life.fully_bound_at) == (2, 2.0)


def test_pod_group_belongs_to_the_owner_that_it_had_at_the_time() -> None:
    story = DrillStory().whole(1.0)
    (life,) = incarnations_of(story)
    story.own(5.0, "another")
    history = History.of(story.recording, NAMESPACE)
    assert pod_group_of(history, life, 4.9) is not None
    assert pod_group_of(history, life, 5.0) is None
