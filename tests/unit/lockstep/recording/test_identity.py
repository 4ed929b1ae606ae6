"""A recording is followed only if it is of what is to be judged."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from lockstep.errors import LockstepError
from lockstep.kube.client import AsyncClient, Client
from lockstep.recording import identity, model
from lockstep.recording.client import Live, Subject
from lockstep.recording.model import Header

HEADER = Header("gang", ("test",), "gang", "", run="r", pid=4711, cluster="uid-1")


class Cluster(Client):
    """A cluster with an identity, which may be secret."""

    def __init__(self, uid: str) -> None:
        self._uid = uid

    def get(self, *_: Any, **__: Any) -> Any:
        if not self._uid:
            raise httpx2.RequestError("status 403")
        return {"metadata": {"uid": self._uid}}


class AsyncCluster(AsyncClient):
    def __init__(self, uid: str) -> None:
        self._cluster = Cluster(uid)

    async def get(self, *_: Any, **__: Any) -> Any:
        return self._cluster.get()


@pytest.mark.parametrize("uid", ["uid-1", ""])
def test_cluster_is_known_by_a_uid_unless_it_may_not_be_read(uid: str) -> None:
    assert asyncio.run(identity.cluster_of(AsyncCluster(uid))) == uid


def check(folder: Path, uid: str, **changes: Any) -> None:
    path = folder / "gang.jsonl"
    path.write_bytes(model.to_line(msgspec.structs.replace(HEADER, **changes)))
    with path.open("rb") as file:
        identity.check(Live(path, file), Subject(path, "gang", "test", "gang", None), Cluster(uid))


def test_recording_of_what_is_to_be_judged_is_followed(tmp_path: Path) -> None:
    check(tmp_path, "uid-1")
    check(tmp_path, "")
    check(tmp_path, "uid-1", cluster="")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario": "held"}, "scenario held, not gang"),
        ({"namespaces": ("other",)}, "namespace other, not test"),
        ({"pool": None}, "pool None, not gang"),
        ({"cluster": "uid-2"}, "cluster uid-2, not uid-1"),
    ],
)
def test_recording_of_something_else_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(LockstepError, match=f"the recording is of the {words}: another stack"):
        check(tmp_path, "uid-1", **change)
