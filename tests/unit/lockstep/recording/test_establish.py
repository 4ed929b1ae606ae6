"""The first lists of a recorder: kinds that are missing, forbidden, or temporarily unavailable."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.recording.watch import Recorder, targets
from tests.unit.lockstep.fake_api import NODES, POD_GROUPS, PODS, FakeApi, serving


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    with serving(tmp_path) as served:
        yield served


def establish(served: tuple[FakeApi, Path], pool: str | None = None) -> Recorder:
    """A recorder that has listed every kind once."""

    async def play() -> Recorder:
        client = kube.async_client(str(served[1]))
        try:
            recorder = Recorder(client, targets("test", pool), lambda _: None)
            await recorder.establish()
            return recorder
        finally:
            await client.close()

    return asyncio.run(play())


def test_a_cluster_without_volcano_has_no_pod_groups(api: tuple[FakeApi, Path]) -> None:
    api[0].statuses[POD_GROUPS] = 404
    recorder = establish(api)
    assert recorder.missing == {"podgroup": "Volcano is not installed"}
    assert recorder.watched == ("node", "event", "workload", "pod")


def test_defined_kind_that_is_not_served_yet_is_waited_for(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    levers, _ = api
    levers.statuses[POD_GROUPS] = 404
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    levers.objects[f"{definitions}/podgroups.scheduling.volcano.sh"] = {}

    async def pause(_: float) -> None:
        levers.statuses.clear()

    monkeypatch.setattr(asyncio, "sleep", pause)
    assert establish(api).missing == {}


def test_forbidden_kind_is_skipped_unless_it_is_pods(api: tuple[FakeApi, Path]) -> None:
    api[0].statuses[NODES] = 403
    assert establish(api).missing["node"] == "no permission to list nodes"
    api[0].statuses = {PODS: 403}
    with pytest.raises(LockstepError, match="cannot watch the cluster: status 403"):
        establish(api)


def test_only_the_nodes_of_the_pool_are_watched(api: tuple[FakeApi, Path]) -> None:
    establish(api, "gang")
    asked = [query for query in api[0].queries if query["path"] == [NODES]]
    assert [query["labelSelector"] for query in asked] == [["lockstep.dev/pool=gang"]]


def test_establishing_survives_a_short_outage(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    levers, _ = api
    levers.statuses[NODES] = 503
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        levers.statuses.pop(NODES, None)

    monkeypatch.setattr(asyncio, "sleep", pause)
    assert "node" in establish(api).watched
    assert len(pauses) == 1
