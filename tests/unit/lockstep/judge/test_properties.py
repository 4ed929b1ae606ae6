"""What must hold of any recording: delivery does not decide a verdict, the cluster does."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from lockstep import judge
from lockstep.judge import Expectation, limits
from lockstep.recording.model import Recording
from tests.unit.lockstep.crowds import deadlock, taking_turns
from tests.unit.lockstep.judge.test_capped import capped, queued
from tests.unit.lockstep.judge.test_crowds import deadlocked, serialized
from tests.unit.lockstep.judge.test_rivals import preempted, rivalry
from tests.unit.lockstep.story import (
    Story,
    control,
    expect,
    expect_partial,
    gang_created,
    gang_placed,
    pods,
)


def _torn() -> Story:
    story = gang_created(Story())
    for at, name in zip((2.0, 2.1, 5.0, 5.1), pods(), strict=True):
        story.bind(at, name)
    return story.until(9.0)


def _held() -> Story:
    story = gang_created(Story())
    for second in range(1, 6):
        story.refuse(1.0 + second, second)
    return story


def _released() -> Story:
    story = gang_created(Story().node(0.0, "w1", "blocked")).node(5.0, "w1")
    return gang_placed(story, at=5.1)


def _at_one_time() -> Story:
    """Everything in one instant, as a relist tells it."""
    story = Story().members(1.0)
    story.pod_group(1.0)
    story.bind(1.0, *pods()).run(1.0, *pods())
    return story


STORIES: list[tuple[Callable[[], Story], Expectation]] = [
    (lambda: gang_placed(gang_created(Story())), expect("placed")),
    (_at_one_time, expect("placed")),
    (_torn, expect("placed")),
    (_held, expect("held")),
    (_released, expect("released")),
    (lambda: control(Story()).until(9.0), expect_partial()),
    (lambda: gang_created(Story()).until(60.0), expect("placed")),
]
CROWDS: list[tuple[Callable[[], Story], Expectation]] = [
    (taking_turns, serialized()),
    (lambda: deadlock().until(12.0), deadlocked()),
    (queued, capped()),
]


@pytest.mark.parametrize(("make", "expectation"), [*CROWDS, (preempted, rivalry())])
def test_a_group_that_is_not_expected_changes_no_figure_of_the_others(
    make: Callable[[], Story], expectation: Expectation
) -> None:
    wanted = judge.conclude(make().until(20.0).recording, expectation)
    story = make()
    for index, name in enumerate(pods(9)):
        story.pod(0.5, name, 9, role="worker" if index else "leader", podGroup=None)
    story.bind(0.7, *pods(9)).run(0.8, *pods(9)).delete(15.0, *pods(9))
    story.members(16.0, 9, podGroup=None)
    assert judge.conclude(story.until(20.0).recording, expectation) == wanted


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*STORIES, *CROWDS]), st.randoms(use_true_random=False), st.integers(0, 5))
def test_order_of_delivery_and_repeats_do_not_change_the_verdict(
    told: tuple[Callable[[], Story], Expectation], chance: random.Random, repeats: int
) -> None:
    make, expectation = told
    recording = make().recording
    wanted = judge.conclude(recording, expectation)
    shuffled = list(recording.observations)
    for seen in [chance.choice(shuffled) for _ in range(repeats)]:
        shuffled.append(structs.replace(seen, at=chance.uniform(seen.at, recording.end)))
    chance.shuffle(shuffled)
    again = replace(recording, observations=shuffled)
    assert judge.conclude(again, expectation) == wanted


@st.composite
def bindings(draw: st.DrawFn) -> list[float]:
    """When each pod of a gang is bound."""
    times = st.integers(20, 90).map(lambda tenth: tenth / 10)
    return draw(st.lists(times, min_size=4, max_size=4))


@settings(max_examples=150, deadline=None)
@given(bindings())
def test_a_gang_is_placed_exactly_when_its_binds_are_one_burst(times: list[float]) -> None:
    story = gang_created(Story())
    for at, name in sorted(zip(times, pods(), strict=True)):
        story.bind(at, name)
    for name in pods():
        story.run(max(times) + 0.1, name)
    verdict = judge.judge(story.recording, expect("placed"))
    skew = max(times) - min(times)
    assert verdict is not None
    assert verdict.ok == (skew <= limits.BURST)
    assert verdict.observed == ("placed" if verdict.ok else "torn")
    assert verdict.bind_skew_seconds == round(skew, 3)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(STORIES))
def test_a_growing_recording_is_judged_as_soon_as_the_whole_one(
    told: tuple[Callable[[], Story], Expectation],
) -> None:
    """Whatever is decided on the way is decided for good: no prefix says the opposite."""
    make, expectation = told
    whole = make().recording
    final = judge.judge(whole, expectation)
    growing = Recording(whole.header)
    for seen in whole.observations:
        growing.add(seen)
        decided = judge.judge(growing, expectation)
        if decided is not None:
            assert final is not None
            assert decided.ok == final.ok
