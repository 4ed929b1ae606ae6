"""The history of objects: what a recording tells of pods, taints and watches."""

from typing import Any

import pytest
from msgspec import structs

from lockstep import judge
from lockstep.judge.groups import incarnations
from lockstep.judge.history import History, Interval, PodHistory
from lockstep.recording.model import WatchState
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.judge.verdicts import accepted, fault
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


def history_of(story: Story) -> History:
    return History.of(story.recording, NAMESPACE)


def only_pod(story: Story) -> PodHistory:
    (pod,) = history_of(story).pods
    return pod


def test_interval_lasts_from_its_start_to_its_end() -> None:
    interval = Interval(1.0, 1.5)
    assert (interval.at_least, interval.at_most) == (0.5, 0.5)


def test_pods_that_were_replaced_for_a_new_proof_are_left_out() -> None:
    renewed = "recreated for a new proof"
    story = DrillStory().whole(1.0).mark(5.0, renewed).gone(5.1).whole(6.0)
    story.mark(10.0, renewed).pod(10.0, "gang-0-4").gone(10.1).whole(11.0)
    assert {pod.first.at for pod in history_of(story).pods} == {11.0, 11.1}


def test_pods_that_waited_before_the_recording_are_old_though_they_are_bound_in_it() -> None:
    story = Story().members(0.0, listed=True).pod_group(0.0, listed=True)
    fault(gang_placed(story), "placed", "unproven", "existed before the recording began")


@pytest.mark.parametrize(
    ("late", "listed", "skew"), [(1.0, False, 0.03), (1.1, False, None), (0.5, True, None)]
)
def test_bind_has_a_time_if_it_was_told_at_once_as_it_happened(
    late: float, listed: bool, skew: float | None
) -> None:
    story = gang_created(Story()).bind(2.0, *pods()[:3])
    story.tell(2.03, "pod", "MODIFIED", "gang-0-3", late=late, listed=listed, node="w1")
    story._report_bind(2.03, "gang-0-3").run(2.2, *pods())
    assert accepted(story, expect("placed")).bind_skew_seconds == skew


@pytest.mark.parametrize("facts", [{"deleting": True}, {"phase": "Failed"}, {"phase": "Succeeded"}])
def test_pod_that_is_deleted_or_finished_does_not_run(facts: dict[str, Any]) -> None:
    story = Story().pod(1.0, "gang-0", node="w1", phase="Running")
    assert only_pod(story).is_running
    pod = only_pod(story.change(2.0, "gang-0", **facts))
    assert (pod.is_running, pod.alive, pod.ends) == (False, False, 2.0)


def test_gang_is_placed_when_its_last_pod_runs_and_none_is_too_many() -> None:
    story = gang_created(Story()).bind(2.0, *pods()).run(2.2, *pods()[1:])
    assert judge.judge(story.recording, expect("placed")) is None
    story.pod(2.3, "gang-0-4").run(2.4, "gang-0")
    assert judge.judge(story.recording, expect("placed")) is None
    accepted(story.delete(3.0, "gang-0-4"), expect("placed"))


@pytest.mark.parametrize(
    ("bound", "gone", "is_partial"),
    [(3, "", True), (2, "", True), (4, "", False), (0, "", False), (2, "no-gang-x-3", False)],
)
def test_partial_is_some_pods_bound_and_all_others_refused(
    bound: int, gone: str, is_partial: bool
) -> None:
    story = control(Story(), bound=bound, refused=4 - bound)
    facts: dict[str, Any] = {"workload": "Deployment/no-gang", "group": None, "podGroup": None}
    story.pod(1.5, "no-gang-x-9", **facts).delete(1.6, "no-gang-x-9")
    story.delete(2.0, *filter(None, [gone])).until(9.0)
    assert (judge.judge(story.recording, expect_partial()) is not None) == is_partial


def test_gang_is_bound_when_the_first_time_so_many_pods_are() -> None:
    story = DrillStory().leader(1.0).workers(1.0).pod(1.0, "gang-0-4")
    story.bind(2.0, *pods()[1:], "gang-0-4").bind(9.0, "gang-0")
    (life,) = incarnations(history_of(story).gangs(expect("placed"))[0])
    assert life.fully_bound_at == 2.0


def test_pod_that_ends_as_another_is_bound_was_not_bound_with_it() -> None:
    story = DrillStory().leader(1.0).workers(1.0).bind(2.0, *pods()[:3])
    story.delete(5.0, "gang-0-2").bind(5.0, "gang-0-3")
    (life,) = incarnations(history_of(story).gangs(expect("placed"))[0])
    assert life.fully_bound_at is None


def test_pod_that_a_list_no_longer_has_is_deleted_whatever_was_told_first() -> None:
    """It is told with the last version that was seen."""
    story = Story().pod(1.0, "gang-0")
    (seen,) = story.recording.of("pod")
    gone = structs.replace(seen, change="DELETED", listed=True)
    story.recording.observations.insert(0, gone)
    pod = only_pod(story)
    assert (pod.deleted, pod.first.change) == (True, "ADDED")


def test_objects_of_one_version_are_two() -> None:
    story = Story().members(1.0)
    same = [structs.replace(seen, version="7") for seen in story.recording.of("pod")]
    story.recording.observations[:] = same
    assert sorted(pod.name for pod in history_of(story).pods) == pods()


Log = list[tuple[float, WatchState]]


@pytest.mark.parametrize(
    ("log", "cuts", "gaps"),
    [
        ([(1.0, "cut"), (2.0, "resumed")], [Interval(1.0, 2.0)], []),
        ([(1.0, "cut"), (2.0, "relisted")], [Interval(1.0, 2.0)], [Interval(1.0, 2.0)]),
        ([(2.0, "resumed"), (1.0, "cut")], [Interval(1.0, 2.0)], []),
        ([(1.0, "cut"), (1.5, "cut"), (2.0, "resumed")], [Interval(1.0, 2.0)], []),
        ([(2.0, "resumed")], [], []),
        ([(1.0, "cut")], [Interval(1.0, 9.0, open=True)], [Interval(1.0, 9.0, open=True)]),
        ([(9.5, "cut")], [Interval(9.5, 9.5, open=True)], [Interval(9.5, 9.5, open=True)]),
    ],
)
def test_watch_is_interrupted_from_its_first_cut_until_it_goes_on(
    log: Log, cuts: list[Interval], gaps: list[Interval]
) -> None:
    story = Story().until(9.0).watch(3.0, "cut", "event").watch(4.0, "relisted", "event")
    for at, state in log:
        story.watch(at, state)
    history = history_of(story)
    assert (history.cuts, history.gaps("pod")) == (cuts, gaps)


@pytest.mark.parametrize("taints", [(), ("blocked", "more")])
def test_release_is_no_taint_that_is_added(taints: tuple[str, ...]) -> None:
    story = gang_created(Story().node(0.0, "w1", *taints[:1]))
    fault(gang_placed(story.node(1.5, "w1", *(taints or ("blocked",)))), "released", "unproven")


@pytest.mark.parametrize("after", [("other",), ("blocked",)])
def test_release_is_no_taint_that_goes_from_a_worker_that_stays_blocked(
    after: tuple[str, ...],
) -> None:
    story = gang_created(Story().node(0.0, "w1", "blocked", "more"))
    story.node(1.5, "w1", *after)
    fault(gang_placed(story), "released", "unproven", "no worker was unblocked")


def test_release_counts_though_its_worker_is_deleted_afterwards() -> None:
    story = gang_placed(gang_created(Story().node(0.0, "w1", "blocked")).node(1.5, "w1"))
    story.tell(3.0, "node", "DELETED", "w1")
    assert accepted(story, expect("released")).release_latency_seconds == 0.53


TAINT = {"key": "a", "value": "1", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("facts", "counts_again"),
    [
        ({"taints": [{**TAINT, "key": "b"}]}, True),
        ({"taints": [{**TAINT, "value": "2"}]}, True),
        ({"taints": [{**TAINT, "effect": "NoExecute"}]}, True),
        ({"taints": [TAINT, {**TAINT, "key": "b", "effect": "PreferNoSchedule"}]}, False),
        ({"cpu": "3"}, True),
        ({"memory": "9Gi"}, True),
        ({"unschedulable": True}, True),
        ({"phase": "Ready"}, False),
        ({"taints": None}, True),
    ],
)
def test_refusals_count_from_the_last_change_of_the_room_on_workers(
    facts: dict[str, Any], counts_again: bool
) -> None:
    story = gang_created(Story().node(0.0, "w0").node(0.0, "w1"))
    story.tell(0.0, "node", "MODIFIED", "w1", taints=[TAINT])
    story.refuse(2.0, 1).refuse(3.0, 2).refuse(4.0, 3)
    story.tell(4.5, "node", "MODIFIED", "w1", **facts).refuse_pod(4.6, *pods())
    assert (judge.judge(story.recording, expect("held")) is None) == counts_again


def test_refusals_count_from_the_last_worker_that_came_or_went() -> None:
    story = gang_created(Story().node(0.0, "w0")).refuse(2.0, 1).refuse(3.0, 2).refuse(4.0, 3)
    assert judge.judge(story.node(4.5, "w1").recording, expect("held")) is None
    story.refuse(5.0, 4).refuse(6.0, 5).refuse(7.0, 6)
    assert judge.judge(story.recording, expect("held")) is not None
    assert judge.judge(story.tell(7.5, "node", "DELETED", "w1").recording, expect("held")) is None
