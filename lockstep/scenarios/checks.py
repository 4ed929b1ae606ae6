"""Checks of a scenario's numbers: each returns the config key to change, or None."""

from lockstep.scenarios.model import Check, Fault, Sizes
from lockstep.scenarios.pool import PODS_PER_WORKER, workers_for


def held_or_released(sizes: Sizes) -> Fault | None:
    """Refuse numbers with which some gangs would be held and some placed."""
    fitting = sizes.free_capacity // sizes.size
    if 0 < fitting < sizes.groups:
        gangs = f"{fitting} of {sizes.groups} gangs"
        return Fault(
            "taintedWorkers",
            f"must be fewer to release all gangs or more to hold all, as {gangs} would fit",
        )
    return None


def some_worker_free(sizes: Sizes) -> Fault | None:
    """Refuse to block every worker: no pod could start."""
    if sizes.blocked < sizes.workers:
        return None
    most = sizes.workers - 1
    return Fault("taintedWorkers", f"must be at most {most}, so that one worker is free")


def crowded(sizes: Sizes) -> Fault | None:
    """Require more groups than fit: the scenario is about their competition."""
    fitting = sizes.capacity // sizes.size
    return _at_least(fitting + 1, "groups", sizes.groups, f", as {fitting} would fit")


def several_groups(sizes: Sizes) -> Fault | None:
    """Require one group to admit and one to wait."""
    return _at_least(2, "groups", sizes.groups)


def fills_the_pool(sizes: Sizes) -> Fault | None:
    """Require that no other gang fits beside the groups."""
    fitting = sizes.capacity // sizes.size
    return _at_least(fitting, "groups", sizes.groups, ", so that the gangs fill the pool")


def spare_worker(sizes: Sizes) -> Fault | None:
    """Require one worker more than the groups fill: the drill takes a node away."""
    return _workers(sizes, workers_for(sizes.pods) + 1, "as the drill takes one of them away")


def workers_for_one_more_group(sizes: Sizes) -> Fault | None:
    """Require room for a surge group."""
    return _workers(sizes, workers_for(sizes.pods + sizes.size), "for one more group")


def workers_for_groups(groups: int) -> Check:
    """Require room for a number of groups that the drill asks for."""
    why = "for a complete group" if groups == 1 else f"for {groups} groups"
    return lambda sizes: _workers(sizes, workers_for(sizes.size * groups), why)


def larger_than_a_worker(sizes: Sizes) -> Fault | None:
    """Require a group that one worker cannot take."""
    if sizes.size > PODS_PER_WORKER:
        return None
    why = f"because one worker already fits {PODS_PER_WORKER} pods"
    return Fault("groupSize", f"must be more than {PODS_PER_WORKER}, {why}")


def _workers(sizes: Sizes, least: int, why: str) -> Fault | None:
    return _at_least(least, "workersPerScenario", sizes.workers, f", {why}")


def _at_least(least: int, key: str, value: int, why: str = "") -> Fault | None:
    return Fault(key, f"must be at least {least}{why}") if value < least else None
