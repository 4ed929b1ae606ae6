"""What the picture shows: states of pods, and the axis that they are drawn on."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lockstep.report.scale import Scale, round_step

from lockstep.report import burst, lanes
from lockstep.report import picture as timeline
from lockstep.report.receipt import Receipt
from tests import samples


def states(receipt: Receipt) -> list[list[str]]:
    return [
        [span.state for span in lanes.spans(pod, gang)]
        for gang in lanes.gangs(receipt)
        for pod in gang.pods
    ]


def test_placed_gang_runs_together() -> None:
    assert states(samples.placed()) == [["waiting", "bound", "running"]] * 4


def test_held_gang_only_waits() -> None:
    assert states(samples.held()) == [["waiting"]] * 4


def test_pods_without_their_gang_are_stranded() -> None:
    assert states(samples.partial()) == [["waiting", "stranded"]] * 2 + [["waiting"]] * 2
    assert states(samples.broken()) == [["waiting", "stranded"]] * 3 + [["waiting"]]


def test_stranded_time_is_what_the_receipt_says() -> None:
    (gang,) = lanes.gangs(samples.partial())
    assert lanes.stranded_seconds(gang) == pytest.approx((6.4 - 1.338) + (6.4 - 1.353))
    assert [lanes.stranded_seconds(g) for g in lanes.gangs(samples.placed())] == [0.0]


def story(*pods: list[tuple[float, str]], end: float = 10.0) -> Receipt:
    """A receipt of one gang, each pod given by its marks."""
    told = [
        {
            "name": f"gang-0-{index}",
            "uid": str(index),
            "group": "gang-0",
            "role": "worker",
            "marks": [{"at": at, "what": what, "node": "w1"} for at, what in marks],
        }
        for index, marks in enumerate(pods)
    ]
    expectation: dict[str, Any] = {"size": 2, "groups": 1}
    return {"expectation": expectation, "timeline": {"end": end, "pods": told}}


def test_gang_that_becomes_complete_late_is_stranded_until_then() -> None:
    receipt = story([(1, "created"), (2, "bound")], [(1, "created"), (6, "bound")])
    (gang,) = lanes.gangs(receipt)
    assert gang.incomplete == [(2.0, 6.0)]
    first = lanes.spans(gang.pods[0], gang)
    assert [(s.start, s.end, s.state) for s in first] == [
        (1.0, 2.0, "waiting"),
        (2.0, 6.0, "stranded"),
        (6.0, 10.0, "bound"),
    ]
    assert gang.skew == 4.0


def test_bind_burst_is_not_stranded_but_an_unfinished_one_is() -> None:
    in_time = story([(1, "created"), (2, "bound")], [(1, "created"), (3, "bound")])
    assert lanes.gangs(in_time)[0].incomplete == []
    cut_off = story([(1, "created"), (9.9, "bound")], [(1, "created")])
    assert lanes.gangs(cut_off)[0].incomplete == [(9.9, 10.0)]


def test_pod_that_leaves_strands_the_other() -> None:
    receipt = story([(1, "bound"), (4, "deleted")], [(1, "bound")])
    (gang,) = lanes.gangs(receipt)
    assert gang.steps == [(1.0, 2), (4.0, 1)]
    assert [s.state for s in lanes.spans(gang.pods[1], gang)] == ["waiting", "bound", "stranded"]
    assert gang.most_bound == 2


def test_gang_that_only_waited_holds_nothing() -> None:
    (gang,) = lanes.gangs(story([(1.0, "created")], [(1.0, "created")]))
    assert gang.steps == []
    assert gang.spells == []
    assert gang.incomplete == []


def test_crowd_with_a_gang_that_only_waited_is_drawn() -> None:
    crowd = samples.deadlocked()
    waiting = crowd["timeline"]["pods"][0]["group"]
    for pod in crowd["timeline"]["pods"]:
        if pod["group"] == waiting:
            pod["marks"] = [mark for mark in pod["marks"] if mark["what"] == "created"]
    scale = Scale(0.0, crowd["timeline"]["end"])
    assert timeline.picture(crowd, scale, "crowd")


def test_gangs_and_pods_come_in_counting_order() -> None:
    everyone = lanes.gangs(samples.crowd(12))
    assert [gang.name for gang in everyone][-2:] == ["contention-pods-10", "contention-pods-11"]
    assert lanes.crowded(everyone)
    assert not lanes.crowded(lanes.gangs(samples.placed()))


def test_pods_outside_gangs_are_one_workload() -> None:
    (gang,) = lanes.gangs(samples.partial())
    assert (gang.name, gang.size, gang.most_bound) == (None, 4, 2)


times = st.floats(0, 5000, allow_nan=False)


@given(start=times, length=st.floats(0.01, 5000), moments=st.lists(times, max_size=8))
def test_scale_keeps_order_and_reaches_both_edges(
    start: float, length: float, moments: list[float]
) -> None:
    scale = Scale(start, start + length, moments)
    assert scale.at(start - 1) == 0.0
    assert scale.at(start + length + 1) == pytest.approx(1.0)
    shares = [scale.at(time) for time in sorted(moments)]
    assert all(before <= after + 1e-9 for before, after in pairwise(shares))
    assert len(scale.ticks()) <= 40
    assert all(start - 1e-3 <= tick <= start + length + 1e-3 for tick in scale.ticks())


def test_long_quiet_time_is_cut_short() -> None:
    scale = Scale(0, 302, [0, 300, 301])
    assert len(scale.breaks) == 1
    assert scale.at(300) < 0.75
    assert not any(b.start < t < b.end for b in scale.breaks for t in scale.ticks())
    assert Scale(0, 19, [0, 19]).breaks == []


def test_quiet_time_that_is_not_most_of_it_stays() -> None:
    assert Scale(0, 100, [0, 25, *range(26, 100)]).breaks == []


@pytest.mark.parametrize(
    ("rough", "step"), [(0.7, 1), (1, 1), (1.2, 2), (2.4, 5), (7, 10), (0.013, 0.02)]
)
def test_steps_are_round(rough: float, step: float) -> None:
    assert round_step(rough) == pytest.approx(step)


def test_lens_shows_a_burst_too_short_to_see() -> None:
    receipt = samples.placed()
    lens = burst.lens(receipt, timeline.own_scale(receipt))
    assert lens is not None
    assert lens.count("<circle") == 4
    assert "21 ms from first to last" in lens


@pytest.mark.parametrize("make", [samples.held, samples.partial, samples.broken, samples.crowd])
def test_lens_is_only_for_one_whole_gang(make: Any) -> None:
    receipt = make()
    assert burst.lens(receipt, timeline.own_scale(receipt)) is None


def test_node_names_lose_what_they_share() -> None:
    receipt = samples.placed()
    assert timeline.short_nodes(receipt)["gang-worker-1"] == "worker-1"
    receipt["workers"] = [
        {"name": "ip-10-0-0-1.ec2.internal"},
        {"name": "ip-10-0-3-9.ec2.internal"},
    ]
    assert timeline.short_nodes(receipt)["ip-10-0-3-9.ec2.internal"] == "3-9"
