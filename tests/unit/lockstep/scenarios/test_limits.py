"""Sizes that would exhaust the machine's memory."""

import pytest

from lockstep.scenarios import limits
from lockstep.scenarios.limits import GIB, MIB
from lockstep.scenarios.model import Fault, Sizes


def found(provider: str, memory: int, *sizes: tuple[int, int, int]) -> list[Fault]:
    every = [Sizes(workers, 0, size, groups) for workers, size, groups in sizes]
    return list(limits.faults(provider, every, memory))


@pytest.mark.parametrize("provider", ["kwok", "kind", "existing"])
def test_every_provider_has_room_for_the_defaults(provider: str) -> None:
    assert not found(provider, 6 * GIB, (3, 4, 1), (3, 4, 1), (3, 2, 1))


def test_a_thousand_workers_and_gangs_of_four_fit_24_gib() -> None:
    assert not found("kwok", 23 * GIB, (1000, 4, 1000))


def test_workers_are_limited_by_the_memory() -> None:
    assert not found("kwok", GIB + 100 * 4 * MIB + MIB, (100, 2, 1))
    (fault,) = found("kwok", GIB + 100 * 4 * MIB - 1, (100, 2, 1))
    assert fault == Fault(
        "workersPerScenario",
        "must be at most 99: each worker of kwok takes up to 4 MiB, and this machine has 1.4 GiB "
        "of memory",
    )


def test_scenarios_share_the_memory() -> None:
    (fault,) = found("kind", 24 * GIB, (50, 2, 1), (50, 2, 10_000))
    assert fault == Fault(
        "workersPerScenario",
        "must be at most 45 with 2 scenarios: each worker of kind takes up to 256 MiB, and this "
        "machine has 24.0 GiB of memory",
    )


@pytest.mark.parametrize(("groups", "key"), [(5000, "groups"), (1, "groupSize")])
def test_pods_are_limited_by_the_memory_beside_the_workers(groups: int, key: str) -> None:
    memory = GIB // 2 + 2 * 2 * MIB + 10_000 * MIB // 4
    size = 5000 // groups
    assert not found("existing", memory, (1, size, groups), (1, size, groups))
    (fault,) = found("existing", memory - 1, (1, size, groups), (1, size, groups))
    assert fault == Fault(
        key,
        "must be less, as groupSize x groups is 10000 pods in all scenarios: this machine has 2.9 "
        "GiB of memory, enough for 9999 beside the workers",
    )


def test_machine_without_enough_memory_for_the_platform_has_none_to_share() -> None:
    (fault,) = found("kwok", MIB, (1, 2, 1))
    assert fault.allowed.startswith("must be at most 0: ")
