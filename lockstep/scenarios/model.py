"""The terms in which the registry describes a scenario."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.scenarios.pool import capacity
from lockstep.scenarios.verdicts import VerdictName


@dataclass(frozen=True)
class Sizes:
    """The numbers that decide what a scenario shows."""

    workers: int
    """Workers in the scenario's pool."""
    blocked: int
    """Workers of the pool that are tainted; used only by scenarios that block workers."""
    size: int
    """Pods per gang, leader included."""
    groups: int
    """Gangs."""

    @property
    def pods(self) -> int:
        """Pods of all gangs."""
        return self.size * self.groups

    @property
    def capacity(self) -> int:
        """Pods that the whole pool takes."""
        return capacity(self.workers)

    @property
    def free_capacity(self) -> int:
        """Pods that the untainted workers take."""
        return capacity(self.workers, self.blocked)


@dataclass(frozen=True)
class Fault:
    """A config value that a scenario cannot run with."""

    key: str
    """The config key, without its namespace."""
    allowed: str
    """What the value must be, and why."""


Check = Callable[[Sizes], Fault | None]
"""Returns what is wrong with the numbers for one scenario, or None."""


@dataclass(frozen=True)
class Needs:
    """What a scenario needs of the stack's config."""

    whole_groups: bool = False
    """Whether all groups are placed at the same time, so that all must fit the free pool."""
    blocks_workers: bool = False
    """Whether the scenario taints as many of its workers as taintedWorkers says."""
    alone: str = ""
    """Why no other scenario may run in the same stack; empty if others may."""
    gang_scheduling: bool | None = None
    """The value that gangScheduling must have; None if both work."""
    gang_scheduling_because: str = ""
    """Why gangScheduling must have that value."""
    own_volcano: str = ""
    """Why Volcano must be installed by the stack; empty if any Volcano will do."""
    checks: tuple[Check, ...] = ()
    """What the numbers must fulfil besides."""


@dataclass(frozen=True)
class Step:
    """One `pulumi up` of the demo: a change of config, and the verdict that it must lead to."""

    name: str
    """Names the step and its receipt."""
    expected: VerdictName
    """The verdict."""
    story: str
    """What happens, in one sentence for the terminal."""
    meaning: str
    """What the verdict means, in one sentence for the report."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Config keys that the step sets on top of the scenario's stack file."""
    continues: bool = False
    """Whether the step changes the workload of the step before instead of starting a new one."""


@dataclass(frozen=True)
class Scenario:
    """A workload, what is done to it, and what that must show.

    The entry has a component in components/scenarios/ and a stack file in stacks/, both of its
    name; the judge's rule is found by the name of the expected verdict.
    """

    name: str
    """The name in the config key `scenarios`, and of the stack file."""
    steps: tuple[Step, ...]
    """The steps of the demo, in order."""
    needs: Needs = field(default_factory=Needs)
    """What the scenario needs of the config."""
    expected: Callable[[Sizes], VerdictName] | None = None
    """The expected verdict where it depends on the numbers; None: that of the only step."""
    drill: str | None = None
    """What is done to the workload before it is judged: a module of lockstep/drills/."""
    groups: int | None = None
    """The number of groups where the scenario fixes it; None: the config's."""
    control_of: str | None = None
    """The scenario that this one is the control of: the same workload without gangs."""
    in_article: bool = False
    """Whether the scenario is one of the article's, which `make demo` shows."""
    in_matrix: bool = False
    """Whether the version matrix runs the scenario."""

    def verdict(self, sizes: Sizes) -> VerdictName:
        """Return the verdict that the numbers lead to."""
        return self.expected(sizes) if self.expected else self.steps[0].expected

    def step(self, sizes: Sizes) -> Step:
        """Return the step whose verdict the numbers lead to; its name is the receipt's."""
        verdict = self.verdict(sizes)
        return next((step for step in self.steps if step.expected == verdict), self.steps[0])

    def faults(
        self, sizes: Sizes, *, gang_scheduling: bool, own_volcano: bool, is_alone: bool
    ) -> Iterator[Fault]:
        """Find what the scenario cannot run with."""
        needs = self.needs
        if needs.gang_scheduling not in (None, gang_scheduling):
            wanted = "true" if needs.gang_scheduling else "false"
            allowed = f"must be {wanted} for {self.name}, {needs.gang_scheduling_because}"
            yield Fault("gangScheduling", allowed)
        if needs.alone and not is_alone:
            yield Fault("scenarios", f"{self.name} must be alone, {needs.alone}")
        if needs.own_volcano and not own_volcano:
            yield Fault("installVolcano", f"must be true for {self.name}, {needs.own_volcano}")
        misfits = list(_misfits(sizes, whole_groups=needs.whole_groups))
        yield from misfits
        if misfits:
            return  # what the checks would say follows from them
        for check in needs.checks:
            if fault := check(sizes):
                yield Fault(fault.key, f"{fault.allowed} (needed by {self.name})")


def _misfits(sizes: Sizes, *, whole_groups: bool) -> Iterator[Fault]:
    """Find numbers that no scenario could work with: pods or taints without a worker."""
    because = f"as workersPerScenario {sizes.workers} is room for {sizes.capacity} pods"
    if sizes.blocked > sizes.workers:
        yield Fault("taintedWorkers", f"must be at most workersPerScenario, {sizes.workers}")
    if sizes.size > sizes.capacity:
        yield Fault("groupSize", f"must be at most {sizes.capacity}, {because}")
    elif whole_groups and sizes.pods > sizes.capacity:
        most = sizes.capacity // sizes.size
        yield Fault("groups", f"must be at most {most} of groupSize {sizes.size}, {because}")
