"""How large the scenarios of a stack may be together, so that they fit the machine's memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lockstep.scenarios.model import Fault, Sizes

MIB = 2**20

MOST_WORKERS = 1_000
"""Workers of a pool: a step gets their names in a variable, and a variable has at most 128 KiB."""
MOST_PODS = 10_000
"""Pods of a gang, and gangs."""


@dataclass(frozen=True)
class Costs:
    """The memory that a stack takes on this machine, in bytes."""

    platform: int
    """Control plane, operators and Pulumi, without workers and pods."""
    worker: int
    """Each worker, with the resources of the stack that stand for it."""
    pod: int
    """Each pod, in everything that keeps or watches it."""
    because: str
    """What a worker is, for the reader of an error."""


COSTS: Mapping[str, Costs] = {
    "kwok": Costs(1024 * MIB, 4 * MIB, MIB // 4, "a resource of the stack"),
    "kind": Costs(1536 * MIB, 512 * MIB, MIB // 4, "a container with a kubelet"),
    "existing": Costs(512 * MIB, 2 * MIB, MIB // 16, "a resource of the stack"),
}
"""By cluster provider."""


def faults(provider: str, sizes: Sequence[Sizes], memory: int) -> Iterator[Fault]:
    """Find numbers of workers or groups for which a machine has too little memory."""
    costs = COSTS[provider]
    room = memory - costs.platform
    of_machine = f"and this machine has {memory / 2**30:.1f} GiB of memory"
    workers = sum(one.workers for one in sizes)
    ...
