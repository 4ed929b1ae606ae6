"""A scenario's workers, and the pod size that makes its outcome the same on any of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from lockstep.kube import quantity
from lockstep.scenarios.pool import PODS_PER_WORKER, POOL_LABEL

__all__ = ["POOL_LABEL", "Worker", "WorkerPool", "pod_requests"]


@dataclass(frozen=True)
class Worker:
    """One schedulable node of a pool, and the capacity that a scenario may use on it."""

    name: pulumi.Input[str]
    """The node's name."""
    cpu: pulumi.Input[str]
    """Allocatable CPU, as a Kubernetes quantity."""
    memory: pulumi.Input[str]
    """Allocatable memory, as a Kubernetes quantity."""


class WorkerPool:
    """The workers that belong to one scenario and to no other."""

    name: str
    """The pool's name, which is the value of its label on the nodes."""
    label: dict[str, str]
    """The node selector that keeps a pod inside the pool."""
    workers: list[Worker]
    """The nodes, in the order in which they get blocked."""
    pod_cpu: pulumi.Output[str]
    """CPU request of one pod: two of them fill a worker."""
    pod_memory: pulumi.Output[str]
    """Memory request of one pod: two of them fill a worker."""

    def __init__(self, name: str, workers: Sequence[Worker]) -> None:
        self.name = name
        self.label = {POOL_LABEL: name}
        self.workers = list(workers)
        sizes = pulumi.Output.all(*(pulumi.Output.all(w.cpu, w.memory) for w in workers))
        requests = sizes.apply(lambda known: pod_requests([(cpu, memory) for cpu, memory in known]))
        self.pod_cpu = requests.apply(lambda known: known[0])
        self.pod_memory = requests.apply(lambda known: known[1])


def pod_requests(workers: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Half of the smallest worker's CPU and memory: two pods fit everywhere, and nowhere a third.

    One resource is enough to keep the third pod out, so unequal workers are fine as long as the
    larger has less than one and a half times the CPU, or the memory, of the smallest.
    """
    if not workers:
        raise pulumi.RunError("a worker pool needs at least one worker")
    cpus = [quantity.parse(cpu) for cpu, _ in workers]
    memories = [quantity.parse(memory) for _, memory in workers]
    # Rounded here as they will be written, so that the check below sees what the scheduler sees.
    pod_cpu = quantity.format_cpu(min(cpus) / PODS_PER_WORKER)
    pod_memory = quantity.format_memory(min(memories) / PODS_PER_WORKER)
    cpu, memory = quantity.parse(pod_cpu), quantity.parse(pod_memory)
    if not cpu or not memory:
        raise pulumi.RunError("the smallest worker has no room for two pods; use larger workers")
    fits = (min(c // cpu, m // memory) for c, m in zip(cpus, memories, strict=True))
    if max(fits) > PODS_PER_WORKER:
        raise pulumi.RunError(
            "the workers differ too much: a pod that fits the smallest twice fits the largest "
            "three times; label workers of one size for the pool"
        )
    return pod_cpu, pod_memory
