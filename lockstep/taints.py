"""Block and unblock workers, whatever other taints they carry.

`spec.taints` is one atomic list: whoever applies it owns all of it. So the list is read, changed by
our one entry, and written back only if the node is still the one that was read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import Taint
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from lockstep.errors import LockstepError

KEY = "lockstep.dev/blocked"
EFFECT = "NoSchedule"

ATTEMPTS = 20
PAUSE = 0.1


def with_ours(taints: Iterable[Taint], reason: str) -> list[Taint]:
    """Add our taint to those of others; once, and in its place if it is there already."""
    return [*without_ours(taints), Taint(effect=EFFECT, key=KEY, value=reason)]


def without_ours(taints: Iterable[Taint]) -> list[Taint]:
    """Keep the taints of others, in their order."""
    return [taint for taint in taints if taint.key != KEY]


def apply(client: Client, nodes: Sequence[str], blocked: int, reason: str) -> None:
    """Block the first `blocked` of the nodes and unblock the rest."""
    for index, name in enumerate(nodes):
        _change(client, name, reason if index < blocked else None, must_exist=True)


def remove(client: Client, nodes: Sequence[str]) -> None:
    """Unblock all of the nodes; one that is gone needs nothing."""
    for name in nodes:
        _change(client, name, None, must_exist=False)


def _change(client: Client, name: str, reason: str | None, *, must_exist: bool) -> None:
    """Read, change, write; again if somebody else wrote in between."""
    for _ in range(ATTEMPTS):
        try:
            node = client.get(Node, name)
            patch = _patch(node, reason)
            if patch is not None:
                client.patch(Node, name, patch, patch_type=PatchType.MERGE)
            return
        except ApiError as error:
            if error.status.code == HTTPStatus.NOT_FOUND and not must_exist:
                return
            if error.status.code not in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                raise LockstepError(f"cannot change the taints of node {name}: {error}") from error
        time.sleep(PAUSE)
    raise LockstepError(
        f"cannot change the taints of node {name}: it is missing or somebody keeps changing it; "
        "look at it with kubectl describe node, then run up again"
    )


def _patch(node: Node, reason: str | None) -> dict[str, Any] | None:
    """Build a merge patch that fails if the node has changed since; None if nothing has to."""
    before = list((node.spec.taints if node.spec else None) or [])
    after = with_ours(before, reason) if reason else without_ours(before)
    if after == before or node.metadata is None:
        return None
    return {
        "metadata": {"resourceVersion": node.metadata.resourceVersion},
        "spec": {"taints": [taint.to_dict() for taint in after] or None},
    }
