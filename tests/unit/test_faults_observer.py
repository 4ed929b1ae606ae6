"""The fault campaign's observer: what it takes for a torn gang, and what an outage explains."""

from typing import cast

import pytest

from tests.faults.observer import Life, Observer
from tests.sabotage.api import Api, Thing
from tests.sabotage.truth import Seen, Truth

SIZE = 3
_LWS = "leaderworkerset.sigs.k8s.io"


def pod(index: int, node: str = "", scheduler: str = "volcano", namespace: str = "one") -> Thing:
    return {
        "metadata": {
            "name": f"gang-0-{index}",
            "namespace": namespace,
            "uid": str(index),
            "labels": {
                f"{_LWS}/name": "gang",
                f"{_LWS}/group-index": "0",
                f"{_LWS}/worker-index": str(index),
            },
            "annotations": {f"{_LWS}/size": str(SIZE)},
        },
        "spec": {"schedulerName": scheduler, **({"nodeName": node} if node else {})},
    }


def observer(*binds: float, **what: str) -> Observer:
    """An observer of a gang whose pods are created at 1 and bound at some times."""
    made = [Seen(1.0, index, False, pod(index, **what)) for index in range(SIZE)]
    bound = [
        Seen(at, 10 + index, False, pod(index, "node", **what)) for index, at in enumerate(binds)
    ]
    # The newest version is asked for ten times a second.
    answers = [
        (at, at, max([0, *(one.version for one in bound if one.at <= at)]))
        for at in (tenth / 10 for tenth in range(300))
    ]
    truth = Truth(cast("Api", None), "", {"Pod": [*made, *bound], "PodGroup": []}, answers=answers)
    return Observer("cluster", [Life("id", truth.api, truth, "uid")])


def torn(seen: Observer) -> list[float]:
    return [round(seconds) for _, seconds in seen.torn(0.0)]


def test_gang_that_is_bound_in_a_burst_is_whole() -> None:
    assert torn(observer(5.0, 5.1, 5.2)) == [0]
    assert observer(5.0, 5.1, 5.2).partial("one") == []


def test_gang_that_is_partly_bound_for_a_while_is_torn() -> None:
    assert torn(observer(5.0, 5.1, 15.0)) == [10]


def test_gang_that_never_gets_complete_is_torn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.monotonic", lambda: 25.0)
    seen = observer(5.0, 5.1)
    assert torn(seen) == [20]
    assert seen.partial("one") == ["gang-0-0: 2 of 3 bound"]
    assert seen.partial("two") == []


def test_only_the_time_of_the_outage_is_explained_by_it() -> None:
    seen = observer(5.0, 5.1, 15.0)
    seen.outages = [(6.0, 12.0)]
    assert torn(seen) == [4]


@pytest.mark.parametrize(
    "what", [{"scheduler": "default-scheduler"}, {"namespace": "lockstep-leader-ready"}]
)
def test_pods_that_are_no_gang_do_not_count(what: dict[str, str]) -> None:
    assert torn(observer(5.0, 5.1, 15.0, **what)) == []


def test_what_was_before_the_round_does_not_count() -> None:
    assert observer(5.0, 5.1, 15.0).torn(6.0) == []
