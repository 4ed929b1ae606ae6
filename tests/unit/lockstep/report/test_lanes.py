"""What the picture shows: states of pods, and the axis that they are drawn on."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lockstep.report import lanes, picture
from lockstep.report.canvas import Scale
from lockstep.report.receipt import Receipt, WorkerSize
from lockstep.report.timeline import PodChange, PodMark, PodTimeline
from tests import samples


def states(receipt: Receipt) -> list[list[str]]:
    return [
        [span.state for span in gang.spans(pod)]
        for gang in lanes.gang_lanes(receipt)
        for pod in gang.pods
    ]


def test_placed_gang_runs_together() -> None:
    assert states(samples.placed()) == [["waiting", "bound", "running"]] * 4


def test_held_gang_only_waits() -> None:
    assert states(samples.held()) == [["waiting"]] * 4


def test_pods_without_their_gang_are_stranded() -> None:
    assert sorted(states(samples.partial())) == [["waiting"]] * 2 + [["waiting", "stranded"]] * 2
    assert states(samples.broken()) == [["waiting", "stranded"]] * 3 + [["waiting"]]


def story(*pods: list[tuple[float, PodChange]], end: float = 10.0) -> Receipt:
    """A receipt of one gang of two, each pod given by its marks."""
    told = [
        PodTimeline(
            name=f"gang-0-{index}",
            uid=str(index),
            group="gang-0",
            role="worker",
            marks=[PodMark(at=at, what=what, node="w1") for at, what in marks],
        )
        for index, marks in enumerate(pods)
    ]
    placed = samples.placed()
    timeline = replace(placed.timeline, end=end, pods=told)
    return samples.changed(placed, expectation={"size": 2}, timeline=timeline)


def test_gang_that_becomes_complete_late_is_stranded_until_then() -> None:
    receipt = story([(1, "created"), (2, "bound")], [(1, "created"), (6, "bound")])
    (gang,) = lanes.gang_lanes(receipt)
    assert gang.incomplete == [(2.0, 6.0)]
    first = gang.spans(gang.pods[0])
    assert [(s.start, s.end, s.state) for s in first] == [
        (1.0, 2.0, "waiting"),
        (2.0, 6.0, "stranded"),
        (6.0, 10.0, "bound"),
    ]


def test_bind_burst_is_not_stranded_but_an_unfinished_one_is() -> None:
    in_time = story([(1, "created"), (2, "bound")], [(1, "created"), (3, "bound")])
    assert lanes.gang_lanes(in_time)[0].incomplete == []
    cut_off = story([(1, "created"), (9.9, "bound")], [(1, "created")])
    assert lanes.gang_lanes(cut_off)[0].incomplete == [(9.9, 10.0)]


def test_pod_that_leaves_strands_the_other() -> None:
    receipt = story([(1, "bound"), (4, "deleted")], [(1, "bound")])
    (gang,) = lanes.gang_lanes(receipt)
    assert gang.steps == [(1.0, 2), (4.0, 1)]
    assert [s.state for s in gang.spans(gang.pods[1])] == ["waiting", "bound", "stranded"]
    assert gang.most_bound == 2


def test_crowd_with_a_gang_that_only_waited_is_drawn() -> None:
    crowd = samples.deadlocked()
    first = crowd.timeline.pods[0].group
    pods = [
        replace(pod, marks=pod.marks[:1]) if pod.group == first else pod
        for pod in crowd.timeline.pods
    ]
    crowd = replace(crowd, timeline=replace(crowd.timeline, pods=pods))
    assert picture.draw(crowd, picture.own_scale(crowd), "crowd").shapes


def test_gangs_and_pods_come_in_counting_order() -> None:
    everyone = lanes.gang_lanes(samples.crowd(12))
    assert [gang.name for gang in everyone][-2:] == ["gang-10", "gang-11"]
    assert lanes.crowded(everyone)
    assert not lanes.crowded(lanes.gang_lanes(samples.placed()))


times = st.floats(0, 5000, allow_nan=False)


@given(start=times, length=st.floats(0.01, 5000), moments=st.lists(times, max_size=8))
def test_scale_keeps_order_and_reaches_both_edges(
    start: float, length: float, moments: list[float]
) -> None:
    scale = Scale(start, start + length)
    assert scale.at(start - 1) == 0.0
    assert scale.at(start + length + 1) == pytest.approx(1.0)
    shares = [scale.at(time) for time in sorted(moments)]
    assert all(before <= after for before, after in pairwise(shares))
    assert len(scale.ticks()) <= 7
    assert all(start - 1e-3 <= tick <= start + length + 1e-3 for tick in scale.ticks())


def test_node_names_lose_what_they_share() -> None:
    placed = samples.placed()
    assert picture.short_nodes(placed)["gang-worker-1"] == "worker-1"
    names = ("ip-10-0-0-1.ec2.internal", "ip-10-0-3-9.ec2.internal")
    workers = [WorkerSize(name=name, cpu="4", memory="8Gi") for name in names]
    assert set(picture.short_nodes(replace(placed, workers=workers)).values()) == {"0-1", "3-9"}
