"""The sample of a campaign: which process is killed at which moment, by chapters.

A chapter is the life of one cluster: its first update, a second one whose judge is struck, groups
that come and go, a drill, and the end of the stack. A plan depends on its seed and size only.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lockstep.scenarios.registry import SCENARIOS

QUICK_SEED, QUICK_ROUNDS = 2, 4

MOMENTS = ("up", "judge", "churn", "drill", "destroy")
"""When a fault strikes, in the order of a chapter: while a stack is first deployed; while a judge
watches; while groups come and go and no update runs; in a drill; while the stack is destroyed."""

PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "vc-scheduler",
    "vc-controller-manager",
    "lws-manager",
)
SUPERVISED = (*PROGRAMS, "supervisor", "standby")
"""What must be back by itself after a kill."""
UPDATES = ("plugin", "step", "update")
"""Parts of an update: one of Pulumi's plugins, the command that Lockstep runs, and all of it."""
FAULTS = (*SUPERVISED, "recorder", *UPDATES, "reboot")
"""What is killed; a reboot is all of it at once."""

PLAIN = tuple(name for name, one in SCENARIOS.items() if not one.drill)
DRILLED = tuple(name for name, one in SCENARIOS.items() if one.drill)


@dataclass(frozen=True)
class Round:
    """One fault."""

    number: int
    fault: str
    moment: str
    scenario: str
    """What is deployed when the fault strikes; empty: what the round before has deployed."""
    fraction: float
    """At which part of the moment it strikes, from 0 to 1."""

    @property
    def name(self) -> str:
        """The round in words."""
        return f"{self.fault}, {self.moment}" + (f" of {self.scenario}" if self.scenario else "")


def possible(fault: str, moment: str) -> bool:
    """Whether there is such a process at such a moment."""
    if fault == "recorder":
        return moment in ("up", "judge", "drill")
    return fault not in UPDATES or moment != "churn"


def chapters(
    seed: int, size: int, only: Iterable[str] = (), quick: bool = False
) -> list[list[Round]]:
    """Return the rounds of a campaign, by chapters.

    `only` has conditions such as `fault=etcd` and `moment=drill`.
    """
    rng = random.Random(f"faults {seed}")
    pairs = [(fault, moment) for moment in MOMENTS for fault in FAULTS if possible(fault, moment)]
    pool = [pair for pair in pairs if _is_wanted(*pair, only)]
    if quick:  # a drill takes long
        pool = [pair for pair in pool if pair[1] != "drill"]
    moments = [moment for moment in MOMENTS if any(pair[1] == moment for pair in pool)]
    if not pool:
        raise ValueError(f"no combination fits {' '.join(only)}")
    used: Counter[str] = Counter()
    taken: Counter[tuple[str, str]] = Counter()
    found: list[list[Round]] = []
    scenario = ""
    for number in range(size):
        moment = moments[number % len(moments)]
        if moment == moments[0]:
            found.append([])
        fitting = [pair for pair in pool if pair[1] == moment]
        rng.shuffle(fitting)
        chosen = min(fitting, key=lambda pair: (taken[pair], used[pair[0]]))
        taken[chosen] += 1
        used[chosen[0]] += 1
        scenario = _scenario(rng, moment, scenario)
        shown = scenario if moment in ("up", "judge", "drill") else ""
        found[-1].append(Round(number, chosen[0], moment, shown, round(rng.random(), 3)))
    return found


def _scenario(rng: random.Random, moment: str, before: str) -> str:
    """What a round deploys: always something else, so that there is a workload to judge."""
    choice = {"up": PLAIN + DRILLED, "judge": PLAIN, "drill": DRILLED}.get(moment, (before,))
    return rng.choice([name for name in choice if name != before] or list(choice))


def _is_wanted(fault: str, moment: str, only: Iterable[str]) -> bool:
    return all(text in (f"fault={fault}", f"moment={moment}") for text in only if text)
