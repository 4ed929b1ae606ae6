"""Choose the workers of a pool among the nodes of a real cluster, by their free capacity."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightkube import ALL_NS, Client

from lockstep.errors import LockstepError
from lockstep.kube import quantity, taints
from lockstep.kube.client import Node, Pod
from lockstep.scenarios.pool import POOL_LABEL

# The part of a worker that is left to pods which are not scheduled yet, such as operators.
RESERVE = Fraction(1, 10)
# The part of a worker that must be free: a busier worker would take a third pod of a scenario as
# soon as other pods end.
NEEDED = Fraction(1, 2)
RESOURCES = ("cpu", "memory")
_BLOCKING = ("NoSchedule", "NoExecute")


@dataclass(frozen=True)
class Candidate:
    """A node with the properties that the choice depends on."""

    name: str
    pool: str | None
    """The value of its pool label; the label of another stack's pool has another value."""
    usable: bool
    """Ready, schedulable, and without a blocking taint of other programs."""
    allocatable: Mapping[str, Fraction]
    """Cores under `cpu`, bytes under `memory`."""
    used: Mapping[str, Fraction]
    """What pods outside of the pool request."""

    @property
    def busy(self) -> bool:
        """Whether pods outside of the pool use too much of it."""
        return any(
            total - self.used[one] < NEEDED * total for one, total in self.allocatable.items()
        )

    def worker(self) -> dict[str, str]:
        """The name of the node and the capacity that a scenario may use."""
        left = {
            one: total - self.used[one] - RESERVE * total for one, total in self.allocatable.items()
        }
        return {
            "name": self.name,
            "cpu": quantity.format_cpu(left["cpu"]),
            "memory": quantity.format_memory(left["memory"]),
        }


def choose(candidates: Iterable[Candidate], pool: str, size: int) -> list[Candidate]:
    """Take the workers that the pool has already first, then free nodes by name."""
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
    taken = sorted({n.pool for n in usable if n.pool and n.pool != pool})
    busy = sorted(n.name for n in usable if n.busy and n.pool in (None, pool))
    if taken:
        line += f", as other nodes belong to the pools {', '.join(taken)}"
    if busy:
        line += f", as other pods fill {', '.join(busy)}"
    return f"{line}; add workers, lower workersPerScenario, or remove other scenarios"


def read(client: Client, pool: str) -> list[Candidate]:
    """Read all nodes, and the requests of the pods on each that are not of this pool."""
    nodes: list[Any] = list(client.list(Node))
    own = {_name(node) for node in nodes if _labels(node).get(POOL_LABEL) == pool}
    used = _requested(client.list(Pod, namespace=ALL_NS), own)
    return [
        Candidate(
            name=_name(node),
            pool=_labels(node).get(POOL_LABEL),
            usable=_usable(node),
            allocatable={one: _amount(node["status"].get("allocatable"), one) for one in RESOURCES},
            used=used[_name(node)],
        )
        for node in nodes
    ]


def _name(node: Any) -> str:
    return str(node["metadata"]["name"])


def _labels(thing: Any) -> Mapping[str, str]:
    return thing["metadata"].get("labels") or {}


def _usable(node: Any) -> bool:
    spec, conditions = node["spec"], node["status"].get("conditions", ())
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    foreign = taints.without(spec.get("taints") or ())
    blocked = any(taint["effect"] in _BLOCKING for taint in foreign)
    return ready and not spec.get("unschedulable") and not blocked


def _requested(pods: Iterable[Any], own: Collection[str]) -> dict[str, dict[str, Fraction]]:
    """Sum the requests of pods by node, without a scenario's pods on the pool's own nodes.

    These are the pods that the pool is for; they are recreated or keep their places.
    """
    used: dict[str, dict[str, Fraction]] = defaultdict(
        lambda: dict.fromkeys(RESOURCES, Fraction(0))
    )
    for pod in pods:
        node = pod["spec"].get("nodeName")
        done = pod["status"].get("phase") in ("Succeeded", "Failed")
        is_lockstep = _labels(pod).get("app.kubernetes.io/part-of") == "lockstep"
        if not node or done or (is_lockstep and node in own):
            continue
        for resource in RESOURCES:
            used[node][resource] += _pod_request(pod["spec"], resource)
    return used


def _pod_request(spec: Mapping[str, Any], resource: str) -> Fraction:
    """The request that a scheduler counts for a pod.

    Init containers run one after the other before the containers; those that are always restarted
    (sidecars) stay beside the containers. The pod needs the larger of the two phases.
    """
    sidecars = starting = Fraction(0)
    for container in spec.get("initContainers", ()):
        amount = _request(container, resource)
        starting = max(starting, sidecars + amount)
        if container.get("restartPolicy") == "Always":
            sidecars += amount
    running = sidecars + sum((_request(one, resource) for one in spec["containers"]), Fraction(0))
    return max(starting, running) + _amount(spec.get("overhead"), resource)


def _request(container: Mapping[str, Any], resource: str) -> Fraction:
    return _amount(container.get("resources", {}).get("requests"), resource)


def _amount(resources: Mapping[str, Any] | None, resource: str) -> Fraction:
    return quantity.parse(str((resources or {}).get(resource, "0")))
