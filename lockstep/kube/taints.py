"""Block and unblock workers, whatever other taints they carry.

`spec.taints` is one atomic list: whoever applies it owns all of it. So the list is read, changed by
our one entry, and written back only if the node is still the one that was read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import Taint
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from lockstep.errors import LockstepError


@dataclass(frozen=True)
class Kind:
    """A taint of ours: what it stands for is its key."""

    key: str
    effect: str


BLOCKED = Kind("lockstep.dev/blocked", "NoSchedule")
"""Nothing new is scheduled there: a pool that is too small."""
LOST = Kind("lockstep.dev/lost", "NoExecute")
"""All pods are evicted and none comes back: to a workload, what a lost node is."""
OURS = (BLOCKED, LOST)

Change = Callable[[Iterable[Taint]], list[Taint]]

ATTEMPTS = 20
PAUSE = 0.1


def with_ours(taints: Iterable[Taint], reason: str, kind: Kind = BLOCKED) -> list[Taint]:
    """Add our taint to those of others; once, and in its place if it is there already."""
    return [*without_ours(taints, kind), Taint(effect=kind.effect, key=kind.key, value=reason)]


def without_ours(taints: Iterable[Taint], *kinds: Kind) -> list[Taint]:
    """Keep the taints of others, in their order; of ours, those of other kinds than these."""
    keys = {kind.key for kind in kinds or OURS}
    return [taint for taint in taints if taint.key not in keys]


def apply(client: Client, nodes: Sequence[str], blocked: int, reason: str) -> None:
    """Block the first `blocked` of the nodes and free the rest."""
    for index, name in enumerate(nodes):
        # Also what an interrupted drill has left goes.
        change = _blocking(reason) if index < blocked else without_ours
        _change(client, name, change, must_exist=True)


def block(client: Client, nodes: Sequence[str], reason: str) -> None:
    """Block all of the nodes."""
    apply(client, nodes, len(nodes), reason)


def lose(client: Client, node: str, reason: str) -> None:
    """Evict all pods of a node that tolerate no more than usual, and keep new ones away."""
    _change(client, node, lambda taints: with_ours(taints, reason, LOST), must_exist=True)


def remove(client: Client, nodes: Sequence[str]) -> None:
    """Free all of the nodes of all taints of ours; one that is gone needs nothing."""
    for name in nodes:
        _change(client, name, without_ours, must_exist=False)


def _blocking(reason: str) -> Change:
    return lambda taints: with_ours(without_ours(taints), reason)


def _change(client: Client, name: str, change: Change, *, must_exist: bool) -> None:
    """Read, change, write; again if somebody else wrote in between."""
    for _ in range(ATTEMPTS):
        try:
            node = client.get(Node, name)
            patch = _patch(node, change)
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


def _patch(node: Node, change: Change) -> dict[str, Any] | None:
    """Build a merge patch that fails if the node has changed since; None if nothing has to."""
    before = list((node.spec.taints if node.spec else None) or [])
    after = change(before)
    if after == before or node.metadata is None:
        return None
    return {
        "metadata": {"resourceVersion": node.metadata.resourceVersion},
        "spec": {"taints": [taint.to_dict() for taint in after] or None},
    }
