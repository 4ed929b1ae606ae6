"""Figures of gangs that come and go: what each counts, and what it leaves out."""

import pytest

from lockstep.judge import figures
from lockstep.judge.case import Case
from tests.unit.lockstep.crowds import crowd, ended
from tests.unit.lockstep.story import Story, expect, gang_created, pods


def case_of(story: Story, groups: int = 4) -> Case:
    return Case.of(story.recording, expect("serialized", groups=groups))


def runs_of(story: Story) -> list[figures.Run]:
    case = case_of(story)
    return figures.runs(case.history, case.wanted)


def bound_over(story: Story, group: int, *times: float) -> Story:
    """The pods of a gang are bound, each at its time."""
    for at, name in zip(times, pods(group), strict=False):
        story.bind(at, name)
    return story


def test_figures_of_gangs_of_which_each_fares_otherwise() -> None:
    story = gang_created(gang_created(Story(), 0.5, 1), 1.0, 0)
    bound_over(story, 1, 0.6, 2.0, 2.0, 2.0).run(2.2, *pods(1))  # runs from 2.0 to 4.0
    ended(story.bind(3.0, *pods(0)), 3.5, 0)  # complete, but it never ran
    ended(story, 4.0, 1)
    gang_created(story, 5.0, 1).delete(5.5, "gang-1")  # gave up waiting
    gang_created(story, 8.0, 2).bind(9.0, *pods(2)[1:3]).until(20.0)  # waits, with two pods bound
    case, runs = case_of(story), runs_of(story)
    assert [run.key for run in runs] == ["gang-1", "gang-0"]
    assert figures.crowd_figures(case.history, case.wanted, runs) == pytest.approx(
        {
            "watchedSeconds": 19.5,
            "gangsCompleted": 1,
            "gangsAtOnce": 2,
            "podSecondsUseful": 4 * 2.0 + 4 * 0.5,
            "podSecondsWasted": 1.4 + 2 * 11.0,
            "podSecondsEnding": 2 * 0.6,
            "longestWaitSeconds": 12.0,
        }
    )


def test_bind_skew_of_gangs_is_the_longest_if_it_is_known_of_each() -> None:
    story = bound_over(crowd(2), 0, 2.0, 2.0, 2.0, 2.1).pod(2.5, "gang-0-4")
    assert figures.longest_bind_skew(case_of(story, 2).wanted) is None
    bound_over(story, 1, 3.0, 3.0, 3.0, 3.4)
    assert figures.longest_bind_skew(case_of(story, 2).wanted) == pytest.approx(0.4)


def test_figures_of_nothing_are_zero() -> None:
    case = case_of(Story().until(9.0))
    assert figures.longest_bind_skew([]) is None
    assert figures.release(case.history, case.wanted) is None
    assert set(figures.crowd_figures(case.history, case.wanted, []).values()) == {0}
    assert figures.most_places(case.wanted) == (0, 0)
    assert figures.longest_binding(case.wanted, case.end) == 0.0


def test_a_run_is_over_when_the_recording_ends_with_its_first_deletion() -> None:
    story = crowd(1).bind(1.5, *pods(0)).delete(5.0, "gang-0")
    (run,) = runs_of(story)
    assert (run.over, run.end, run.wait) == (True, 5.0, 0.5)


def test_only_a_run_that_ended_is_followed_by_another() -> None:
    story = crowd(4)
    story.bind(2.0, *pods(0)).bind(3.0, *pods(1))
    ended(story, 4.0, 0).bind(4.0, *pods(2))
    ended(story, 6.0, 2)
    assert figures.handovers(runs_of(story.until(7.0))) == [0.0]
    assert figures.handovers(runs_of(story.bind(7.0, *pods(3)))) == [0.0, 1.0]


def test_skew_of_runs_is_that_of_the_slowest_whose_binds_are_known() -> None:
    story = crowd(4)
    for name in pods(0):
        story.tell(2.5, "pod", "MODIFIED", name, node="w1", late=1.5)
    bound_over(story, 1, 3.0).tell(3.9, "pod", "MODIFIED", "gang-1-1", node="w1", listed=True)
    story.bind(3.9, *pods(1)[2:])
    runs = runs_of(story)
    assert [run.exactly_bound for run in runs] == [False, False]
    history = case_of(story).history
    assert figures.longest_run_skew(history, runs) is None
    bound_over(bound_over(story, 2, 4.0, 4.0, 4.0, 4.2), 3, 5.0, 5.0, 5.0, 5.1)
    assert figures.longest_run_skew(history, runs_of(story)) == pytest.approx(0.2)


def test_longest_binding_is_of_groups_created_while_watching() -> None:
    story = Story().pod(0.0, "gang-0", role="leader", listed=True)
    for name in pods(0)[1:]:
        story.pod(0.0, name, listed=True)
    bound_over(story, 0, 1.0, 1.0, 1.0, 2.5)
    for group in (1, 2, 3):  # the last is not bound
        gang_created(story, 1.0, group)
    bound_over(bound_over(story, 1, 2.0, 2.0, 2.0, 2.5), 2, 2.0, 2.0, 2.0, 2.1)
    assert figures.longest_binding(case_of(story).wanted, 9.0) == 0.5


@pytest.mark.parametrize(
    ("bound", "places"),
    [
        (2, (5, 5)),  # a gang that was never complete is not ending: its other pod counts
        (4, (4, 7)),  # a complete gang is, also if it never ran
    ],
)
def test_places_of_a_gang_that_ends_are_counted_apart(bound: int, places: tuple[int, int]) -> None:
    story = crowd(2).bind(2.0, *pods(0)[:bound]).delete(3.0, "gang-0").bind(4.0, *pods(1))
    assert figures.most_places(case_of(story).wanted) == places
