from typing import Any

import httpx2
import pytest

from lockstep.errors import LockstepError
from lockstep.kube import taints
from tests.unit.lockstep.memory_api import MemoryApi

FOREIGN = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
ANOTHER = {"key": "lockstep.dev/other", "effect": "NoExecute"}
OURS = {"key": "lockstep.dev/blocked", "value": "constrained", "effect": "NoSchedule"}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> MemoryApi:
    api = MemoryApi()
    for name in "abc":
        api.put(f"/api/v1/nodes/{name}", {"spec": {"podCIDR": "10.0.0.0/24"}})
    monkeypatch.setattr(taints, "PAUSE", 0)
    return api


def taint(api: MemoryApi, name: str, *entries: dict[str, str]) -> None:
    api.put(f"/api/v1/nodes/{name}", {"spec": {"podCIDR": "x", "taints": list(entries)}})


def taints_of(api: MemoryApi, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.objects[f"/api/v1/nodes/{name}"]["spec"].get("taints", [])
    return found


def test_smaller_number_frees_workers(api: MemoryApi) -> None:
    taints.apply(api.client(), list("abc"), 2, "constrained")
    taints.apply(api.client(), list("abc"), 1, "constrained")
    assert [taints_of(api, name) for name in "abc"] == [[OURS], [], []]


def test_taints_of_others_survive_blocking_and_freeing(api: MemoryApi) -> None:
    taint(api, "a", FOREIGN, ANOTHER)
    taints.apply(api.client(), ["a"], 1, "constrained")
    assert taints_of(api, "a") == [FOREIGN, ANOTHER, OURS]
    taints.apply(api.client(), ["a"], 0, "constrained")
    assert taints_of(api, "a") == [FOREIGN, ANOTHER]


def test_taint_that_appears_meanwhile_survives(api: MemoryApi) -> None:
    """Another writer is quicker, once: the list that was read is stale."""

    def quicker() -> None:
        api.before_patch = lambda: None
        taint(api, "a", FOREIGN)

    api.before_patch = quicker
    taints.apply(api.client(), ["a"], 1, "constrained")
    assert taints_of(api, "a") == [FOREIGN, OURS]


def test_rest_of_the_node_is_left_alone(api: MemoryApi) -> None:
    taints.apply(api.client(), ["a"], 1, "constrained")
    taints.remove(api.client(), ["a"])
    assert api.objects["/api/v1/nodes/a"]["spec"] == {"podCIDR": "10.0.0.0/24"}


def test_nothing_is_written_when_nothing_changes(api: MemoryApi) -> None:
    taints.apply(api.client(), list("abc"), 1, "constrained")
    taints.apply(api.client(), list("abc"), 1, "constrained")
    assert api.patches == ["/api/v1/nodes/a"]


def test_node_that_is_gone_needs_no_freeing(api: MemoryApi) -> None:
    taints.remove(api.client(), ["gone", "a"])


def test_node_that_cannot_be_freed_is_told_when_the_others_are_free(api: MemoryApi) -> None:
    taints.apply(api.client(), list("abc"), 3, "constrained")
    names = iter("abc")

    def refuse_b() -> None:
        if next(names) == "b":
            raise httpx2.ConnectError("connection refused")

    api.before_patch = refuse_b
    with pytest.raises(LockstepError, match=r"left on b \(connection refused\)$"):
        taints.remove(api.client(), list("abc"))
    assert [taints_of(api, name) for name in "abc"] == [[], [OURS], []]
    api.before_patch, api.refused = lambda: None, ("GET",)
    with pytest.raises(LockstepError, match=r"left on a \(cannot .* forbidden\), b \(cannot "):
        taints.remove(api.client(), list("ab"))


def test_missing_node_is_an_error_with_a_remedy(api: MemoryApi) -> None:
    with pytest.raises(
        LockstepError, match=r"node gone, a worker of this scenario, no longer exists; remove"
    ):
        taints.apply(api.client(), ["gone"], 1, "constrained")


def test_refusal_is_an_error_at_once(api: MemoryApi) -> None:
    api.refused = ("GET",)
    with pytest.raises(LockstepError, match="cannot change the taints of node a: forbidden"):
        taints.apply(api.client(), ["a"], 1, "constrained")


def test_lost_taint_evicts_and_is_removed_with_the_others(api: MemoryApi) -> None:
    taint(api, "a", FOREIGN, OURS)
    taints.lose(api.client(), "a", "recovery")
    lost = {"key": "lockstep.dev/lost", "value": "recovery", "effect": "NoExecute"}
    assert taints_of(api, "a") == [FOREIGN, OURS, lost]
    taints.remove(api.client(), ["a"])
    assert taints_of(api, "a") == [FOREIGN]


def test_taint_of_an_interrupted_drill_is_removed_by_the_next_update(api: MemoryApi) -> None:
    taints.lose(api.client(), "a", "recovery")
    taints.apply(api.client(), ["a"], 0, "recovery")
    assert taints_of(api, "a") == []
