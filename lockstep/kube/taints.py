"""Block and unblock workers without touching the taints of other programs.

`spec.taints` is one atomic list: a program that applies it owns all of it. So the list is read,
changed by Lockstep's entry, and written back only if the node has not changed since.
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
class TaintSpec:
    """A taint that Lockstep sets."""

    key: str
    effect: str


BLOCKED = TaintSpec("lockstep.dev/blocked", "NoSchedule")
"""No new pod is scheduled to the node: it makes a pool too small."""
LOST = TaintSpec("lockstep.dev/lost", "NoExecute")
"""All pods are evicted and no new pod is scheduled: it simulates a lost node."""
ALL = (BLOCKED, LOST)

Change = Callable[[Iterable[Taint]], list[Taint]]

ATTEMPTS = 20
PAUSE = 0.1


def with_taint(taints: Iterable[Taint], reason: str, spec: TaintSpec = BLOCKED) -> list[Taint]:
    """Add a taint of Lockstep after all others, in place of an earlier one of the same key."""
    return [*without(taints, spec), Taint(effect=spec.effect, key=spec.key, value=reason)]


def without(taints: Iterable[Taint], *specs: TaintSpec) -> list[Taint]:
    """Drop these taints of Lockstep, by default all of them; keep the others in their order."""
    keys = {spec.key for spec in specs or ALL}
    return [taint for taint in taints if taint.key not in keys]


def apply(client: Client, nodes: Sequence[str], blocked: int, reason: str) -> None:
    """Block the first `blocked` of the nodes and unblock the others."""
    for index, name in enumerate(nodes):
        # Removes the taints of an interrupted drill, too.
        change = _blocking(reason) if index < blocked else without
        _change(client, name, change, must_exist=True)


def block(client: Client, nodes: Sequence[str], reason: str) -> None:
    """Block all of the nodes."""
    apply(client, nodes, len(nodes), reason)


def lose(client: Client, node: str, reason: str) -> None:
    """Evict all pods of a node that have no toleration for it, and block the node."""
    _change(client, node, lambda taints: with_taint(taints, reason, LOST), must_exist=True)


def remove(client: Client, nodes: Sequence[str]) -> None:
    """Remove all taints of Lockstep from the nodes; a node may have been deleted meanwhile."""
    for name in nodes:
        _change(client, name, without, must_exist=False)


def _blocking(reason: str) -> Change:
    return lambda taints: with_taint(without(taints), reason)


def _change(client: Client, name: str, change: Change, *, must_exist: bool) -> None:
    """Read, change and write the taints; repeat if another program wrote in between."""
    status: int | None = None
    for _ in range(ATTEMPTS):
        try:
            node = client.get(Node, name)
            patch = _patch(node, change)
            if patch is not None:
                client.patch(Node, name, patch, patch_type=PatchType.MERGE)
            return
        except ApiError as error:
            status = error.status.code
            if status == HTTPStatus.NOT_FOUND and not must_exist:
                return
            if status not in (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND):
                raise LockstepError(f"cannot change the taints of node {name}: {error}") from error
        time.sleep(PAUSE)
    if status == HTTPStatus.NOT_FOUND:
        raise LockstepError(
            f"node {name}, a worker of this scenario, no longer exists; remove the scenario from "
            "lockstep:scenarios, run up, and add it again: then other workers are chosen"
        )
    raise LockstepError(
        f"cannot change the taints of node {name}: another program keeps changing the node; "
        f"see kubectl describe node {name}, then run up again"
    )


def _patch(node: Node, change: Change) -> dict[str, Any] | None:
    """Build a merge patch that fails if the node has changed since; None if nothing changes."""
    before = list((node.spec.taints if node.spec else None) or [])
    after = change(before)
    if after == before or node.metadata is None:
        return None
    return {
        "metadata": {"resourceVersion": node.metadata.resourceVersion},
        "spec": {"taints": [taint.to_dict() for taint in after] or None},
    }
