from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.lws import upgrade as lws_upgrade
from tests.unit.lockstep.memory_api import MemoryApi

SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/theirs/leaderworkersets"
REVISIONS = "/apis/apps/v1/namespaces/theirs/controllerrevisions"


def revision(owner: str, author: str, number: int = 1) -> dict[str, Any]:
    """A template as an LWS writes it."""
    metadata: dict[str, Any] = {"labels": {"app": "theirs"}}
    if author < "0.8":
        metadata["creationTimestamp"] = None
    template = {"metadata": metadata, "spec": {"containers": [{"name": "one"}]}}
    references = [{"apiVersion": "v1", "kind": "LeaderWorkerSet", "name": owner, "uid": owner}]
    return {
        "metadata": {"namespace": "theirs", "ownerReferences": references},
        "revision": number,
        "data": {"spec": {"leaderWorkerTemplate": {"size": 4, "workerTemplate": template}}},
    }


def theirs(*authors: str, **metadata: Any) -> MemoryApi:
    """A cluster with one LeaderWorkerSet, whose template was written by these, in turn."""
    api = MemoryApi()
    api.put(f"{SETS}/one", {"metadata": {"namespace": "theirs", "uid": "1", **metadata}})
    for number, author in enumerate(authors, start=1):
        api.put(f"{REVISIONS}/one-{number}", revision("1", author, number))
    return api


@pytest.mark.parametrize(
    ("author", "there", "version", "refused"),
    [
        ("0.7.0", "0.7.0", "0.8.0", True),
        ("0.7.0", "main", "0.8.1", True),
        ("0.7.0", "0.9.0", "0.8.0", True),
        ("0.7.0", "0.7.0", "0.9.0", False),
        ("0.7.0", "0.9.0", "0.7.0", False),
        ("0.8.0", "0.8.0", "0.7.0", True),
        ("0.8.0", "0.8.0", "0.9.0", False),
        ("0.9.0", "0.9.0", "0.8.0", False),
        ("0.9.0", "0.9.0", "0.7.0", True),
        ("0.7.0", "0.8.0", "0.8.0", False),
        ("0.7.0", None, "0.8.0", False),
        ("0.7.0", "0.7.0", "main", False),
    ],
)
def test_version_that_would_replace_every_pod_is_refused(
    author: str, there: str | None, version: str, refused: bool
) -> None:
    with theirs(author).client() as client:
        if not refused:
            lws_upgrade.check(client, there, version)
            return
        with pytest.raises(LockstepError, match=r"lws#797\): 1 .*, such as theirs/one; set"):
            lws_upgrade.check(client, there, version)


def test_newest_template_counts() -> None:
    with theirs("0.7.0", "0.8.0").client() as client:
        assert lws_upgrade.sets_that_would_restart(client, "0.8.0") == []
        assert lws_upgrade.sets_that_would_restart(client, "0.7.0") == ["theirs/one"]


def test_set_that_is_being_deleted_needs_no_care() -> None:
    with theirs("0.7.0", deletionTimestamp="2026-01-01T00:00:00Z").client() as client:
        assert lws_upgrade.sets_that_would_restart(client, "0.8.0") == []


def test_set_without_a_template_yet_has_no_pods() -> None:
    with theirs().client() as client:
        assert lws_upgrade.sets_that_would_restart(client, "0.8.0") == []
