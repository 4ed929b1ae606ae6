"""Block and unblock workers without touching the taints of other programs.

`spec.taints` is one atomic list: a program that applies it owns all of it. So the list is read,
changed by Lockstep's entry, and written back only if the node has not changed since.
"""

import time
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any

from lightkube import ApiError, Client
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.kube.client import FAILURES, Node, explain
from lockstep.scenarios.pool import BLOCKED_TAINT

Taint = dict[str, str]

BLOCKED: Taint = {"key": BLOCKED_TAINT, "effect": "NoSchedule"}
"""No new pod is scheduled to the node: it makes a pool too small."""
LOST: Taint = {"key": "lockstep.dev/lost", "effect": "NoExecute"}
"""All pods are evicted and no new pod is scheduled: it simulates a lost node."""
OURS = (BLOCKED, LOST)

ATTEMPTS = 20
PAUSE = 0.1


def without(taints: Iterable[Taint], ours: Sequence[Taint] = OURS) -> list[Taint]:
    """Drop these taints of Lockstep, by default all of them; keep the others in their order."""
    keys = {taint["key"] for taint in ours}
    return [taint for taint in taints if taint["key"] not in keys]


def apply(client: Client, nodes: Sequence[str], blocked: int, reason: str) -> None:
    """Block the first `blocked` of the nodes and unblock the others."""
    for index, name in enumerate(nodes):
        taints = [{**BLOCKED, "value": reason}] if index < blocked else []
        # Removes the taints of an interrupted drill, too.
        _replace(client, name, OURS, taints, must_exist=True)


def block(client: Client, nodes: Sequence[str], reason: str) -> None:
    """Block all of the nodes."""
    apply(client, nodes, len(nodes), reason)


def lose(client: Client, node: str, reason: str) -> None:
    """Evict all pods of a node that have no toleration for it, and block the node."""
    _replace(client, node, [LOST], [{**LOST, "value": reason}], must_exist=True)


def remove(client: Client, nodes: Sequence[str]) -> None:
    """Remove all taints of Lockstep from the nodes; a node may have been deleted meanwhile.

    A node that cannot be changed does not keep the others from being changed.
    """
    left = []
    for name in nodes:
        try:
            _replace(client, name, OURS, [], must_exist=False)
        except (LockstepError, *FAILURES) as error:
            left.append(f"{name} ({explain(error)})")
    if left:
        raise LockstepError(f"taints of Lockstep may be left on {', '.join(left)}")


def _replace(
    client: Client, name: str, old: Sequence[Taint], new: list[Taint], *, must_exist: bool
) -> None:
    """Read, change and write the taints; repeat if another program wrote in between."""
    status: int | None = None
    for _ in range(ATTEMPTS):
        try:
            node: Any = client.get(Node, name)
            before = node["spec"].get("taints", [])
            after = without(before, old) + new
            if after != before:
                client.patch(Node, name, _patch(node, after), patch_type=PatchType.MERGE)
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


def _patch(node: Any, taints: list[Taint]) -> dict[str, Any]:
    """Build a merge patch that fails if the node has changed since it was read."""
    version = node["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version}, "spec": {"taints": taints or None}}
