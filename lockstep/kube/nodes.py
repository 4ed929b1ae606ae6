"""Choose the workers of a pool among the nodes of a real cluster, and read what is free there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightkube import Client
from lightkube.models.core_v1 import Container
from lightkube.resources.core_v1 import Node, Pod

from lockstep.errors import LockstepError
from lockstep.kube import quantity, taints
from lockstep.scenarios.pool import POOL_LABEL

# Part of a worker that pods may still take which are not there yet, such as operators.
RESERVE = Fraction(1, 10)
# A busier worker would take a third pod of a scenario as soon as others leave.
NEEDED = Fraction(1, 2)
_BLOCKING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Candidate:
    """A node, as far as the choice needs to know it."""

    name: str
    pool: str | None
    """The pool that it belongs to."""
    usable: bool
    """Ready, schedulable, and without a taint that is not ours."""
    cpu: Fraction
    """Allocatable cores."""
    memory: Fraction
    """Allocatable bytes."""
    used_cpu: Fraction = Fraction(0)
    """What pods of others request."""
    used_memory: Fraction = Fraction(0)
    """What pods of others request."""

    @property
    def busy(self) -> bool:
        """Whether others use too much of it."""
        return (
            self.cpu - self.used_cpu < NEEDED * self.cpu
            or self.memory - self.used_memory < NEEDED * self.memory
        )

    def worker(self) -> dict[str, str]:
        """What a scenario may count on there."""
        return {
            "name": self.name,
            "cpu": quantity.format_cpu(self.cpu - self.used_cpu - RESERVE * self.cpu),
            "memory": quantity.format_memory(
                self.memory - self.used_memory - RESERVE * self.memory
            ),
        }


def choose(candidates: Iterable[Candidate], pool: str, size: int) -> list[Candidate]:
    """Take the pool's own workers first, then free ones by name; a clear line if too few."""
    usable = [node for node in candidates if node.usable]
    idle = [node for node in usable if not node.busy]
    own = sorted((n for n in idle if n.pool == pool), key=lambda n: n.name)
    free = sorted((n for n in idle if n.pool is None), key=lambda n: n.name)
    chosen = [*own, *free][:size]
    if len(chosen) < size:
        raise LockstepError(_too_few(usable, pool, size, len(chosen)))
    return chosen


def _too_few(usable: Sequence[Candidate], pool: str, size: int, found: int) -> str:
    line = f"the pool {pool} needs {size} workers that are ready, untainted and idle; found {found}"
    taken = sorted({n.pool for n in usable if n.pool not in (None, pool)} - {None}, key=str)
    busy = sorted(n.name for n in usable if n.busy and n.pool in (None, pool))
    if taken:
        line += f", as others belong to the pools {', '.join(map(str, taken))}"
    if busy:
        line += f", as pods of others fill {', '.join(busy)}"
    return f"{line}; add workers, lower workersPerScenario, or remove other scenarios first"


def read(client: Client) -> list[Candidate]:
    """Read all nodes, and what pods that are not ours request on each."""
    used = _requested(client.list(Pod, namespace="*"))
    return [_candidate(node, used.get(_name(node), {})) for node in client.list(Node)]


def _candidate(node: Node, used: Mapping[str, Fraction]) -> Candidate:
    labels = (node.metadata.labels if node.metadata else None) or {}
    allocatable: Mapping[str, Any] = (node.status.allocatable if node.status else None) or {}
    return Candidate(
        name=_name(node),
        pool=labels.get(POOL_LABEL),
        usable=_usable(node),
        cpu=quantity.parse(str(allocatable.get("cpu", "0"))),
        memory=quantity.parse(str(allocatable.get("memory", "0"))),
        used_cpu=used.get("cpu", Fraction(0)),
        used_memory=used.get("memory", Fraction(0)),
    )


def _name(node: Node) -> str:
    return (node.metadata.name if node.metadata else None) or ""


def _usable(node: Node) -> bool:
    conditions = (node.status.conditions if node.status else None) or []
    ready = any(c.type == "Ready" and c.status == "True" for c in conditions)
    if not ready or node.spec is None:
        return ready
    foreign = taints.without_ours(node.spec.taints or [])
    blocked = any(taint.effect in _BLOCKING for taint in foreign)
    return not node.spec.unschedulable and not blocked


def _requested(pods: Iterable[Pod]) -> dict[str, dict[str, Fraction]]:
    """Sum the requests of others' pods by node: ours are what the room is for."""
    used: dict[str, dict[str, Fraction]] = {}
    for pod in pods:
        labels = (pod.metadata.labels if pod.metadata else None) or {}
        done = pod.status is not None and pod.status.phase in ("Succeeded", "Failed")
        ours = labels.get("app.kubernetes.io/part-of") == "lockstep"
        if pod.spec is None or not pod.spec.nodeName or done or ours:
            continue
        total = used.setdefault(pod.spec.nodeName, {})
        for resource in ("cpu", "memory"):
            amount = sum((_request(c, resource) for c in pod.spec.containers), Fraction(0))
            total[resource] = total.get(resource, Fraction(0)) + amount
    return used


def _request(container: Container, resource: str) -> Fraction:
    requests = (container.resources.requests if container.resources else None) or {}
    return quantity.parse(str(requests.get(resource, "0")))
