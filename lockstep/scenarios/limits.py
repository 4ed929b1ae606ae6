"""How large the scenarios of a stack may be together, so that they fit the machine's memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lockstep.scenarios.model import Fault, Sizes

MIB, GIB = 2**20, 2**30


@dataclass(frozen=True)
class Costs:
    """What a stack takes of this machine's memory, in bytes: rounded up, as a safeguard."""

    platform: int
    """Everything but workers and pods."""
    worker: int
    """Each worker. The Pulumi program alone takes 0.35 MiB, measured with 1,000 workers."""
    pod: int
    """Each pod, in everything that keeps or watches it."""


COSTS: Mapping[str, Costs] = {
    "kwok": Costs(GIB, 4 * MIB, MIB // 2),
    # A worker is a container with a kubelet.
    "kind": Costs(3 * GIB // 2, 256 * MIB, 8 * MIB),
    # Only Pulumi and the recorder run here.
    "existing": Costs(GIB // 2, 2 * MIB, MIB // 4),
}
"""By cluster provider."""


def faults(provider: str, sizes: Sequence[Sizes], memory: int) -> Iterator[Fault]:
    """Find numbers of workers and of pods for which the machine has too little memory."""
    costs = COSTS[provider]
    left = max(0, memory - costs.platform)
    machine = f"this machine has {memory / GIB:.1f} GiB of memory"
    workers = sum(one.workers for one in sizes)
    if workers * costs.worker > left:
        most = left // costs.worker // len(sizes)
        each = f"each worker of {provider} takes up to {costs.worker // MIB} MiB"
        beside = f" with {len(sizes)} scenarios" if len(sizes) > 1 else ""
        yield Fault("workersPerScenario", f"must be at most {most}{beside}: {each}, and {machine}")
        return
    pods = sum(one.pods for one in sizes)
    most = (left - workers * costs.worker) // costs.pod
    if pods > most:
        key = "groups" if any(one.groups > 1 for one in sizes) else "groupSize"
        what = f"groupSize x groups is {pods} pods in all scenarios"
        yield Fault(
            key, f"must be less, as {what}: {machine}, enough for {most} beside the workers"
        )
