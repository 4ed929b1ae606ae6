"""The first lists of a recorder: kinds that are missing, forbidden, or temporarily unavailable."""

from __future__ import annotations

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


def test_a_cluster_without_volcano_has_no_pod_groups(api: tuple[FakeApi, Path]) -> None:
    levers, config = api
    levers.statuses[POD_GROUPS] = 404

    async def establish() -> Recorder:
        client = kube.async_client(str(config))
        recorder = Recorder(client, targets("test", None), lambda _: None)
        await recorder.establish()
        await client.close()
        return recorder

    recorder = asyncio.run(establish())
    assert recorder.missing == {"podgroup": "Volcano is not installed"}
    assert recorder.watched == ("node", "event", "workload", "pod")


@pytest.mark.parametrize(("path", "fatal"), [(NODES, False), (PODS, True)])
def test_forbidden_kind_is_skipped_unless_it_is_pods(
    api: tuple[FakeApi, Path], path: str, fatal: bool
) -> None:
    levers, config = api
    levers.statuses[path] = 403

    async def establish() -> Recorder:
        client = kube.async_client(str(config))
        try:
            recorder = Recorder(client, targets("test", None), lambda _: None)
            await recorder.establish()
            return recorder
        finally:
            await client.close()

    if fatal:
        with pytest.raises(LockstepError, match="cannot watch the cluster: status 403"):
            asyncio.run(establish())
    else:
        assert asyncio.run(establish()).missing["node"] == "no permission to list nodes"


def test_only_the_nodes_of_the_pool_are_watched(api: tuple[FakeApi, Path]) -> None:
    levers, config = api

    async def establish() -> None:
        client = kube.async_client(str(config))
        await Recorder(client, targets("test", "gang"), lambda _: None).establish()
        await client.close()

    asyncio.run(establish())
    asked = [query for query in levers.queries if query["path"] == [NODES]]
    assert [query["labelSelector"] for query in asked] == [["lockstep.dev/pool=gang"]]


def test_establishing_survives_a_short_outage(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    levers, config = api
    levers.statuses[NODES] = 503
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        levers.statuses.pop(NODES, None)

    async def establish() -> Recorder:
        client = kube.async_client(str(config))
        recorder = Recorder(client, targets("test", None), lambda _: None)
        monkeypatch.setattr(asyncio, "sleep", pause)
        await recorder.establish()
        await client.close()
        return recorder

    assert "node" in asyncio.run(establish()).watched
    assert len(pauses) == 1
