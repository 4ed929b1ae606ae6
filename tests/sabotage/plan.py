"""The sample of a campaign: which sabotage strikes which scenario at which moment.

A plan depends on its seed and its size only. It is filled so that every scenario, every sabotage
and every moment comes about equally often, and so that no combination comes twice before all that
the three demand were used.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.sabotage import oracle

QUICK_SEED = 1
QUICK_CASES = ("gang", "constrained", "constrained-released", "no-gang")
"""The cases of the quick campaign: those without a drill."""


@dataclass(frozen=True)
class Round:
    """One deployment to sabotage, or to leave alone."""

    number: int
    case: str
    """The scenario; of the constrained scenario, one of its two steps."""
    sabotage: str = ""
    """Empty in a clean run."""
    moment: str = ""
    seed: str = ""
    """Seeds everything that is random in the round."""

    @property
    def scenario(self) -> str:
        """The scenario's name in the registry."""
        return "constrained" if self.case.startswith("constrained") else self.case

    @property
    def name(self) -> str:
        """The round in words."""
        return f"{self.case}: {self.sabotage}, {self.moment}" if self.sabotage else self.case


def sabotaged(seed: int, size: int, only: Iterable[str] = (), quick: bool = False) -> list[Round]:
    """Return the sabotaged rounds of a campaign.

    `only` has conditions such as `scenario=gang`, `sabotage=watch cut`, `moment=burst`.
    """
    rng = random.Random(f"sabotage {seed}")
    pool = [one for one in oracle.combinations() if _is_wanted(one, only)]
    if quick:
        pool = [one for one in pool if one[2] in QUICK_CASES]
    if not pool:
        raise ValueError(f"no combination fits {' '.join(only)}")
    rng.shuffle(pool)
    used: Counter[str] = Counter()
    taken: Counter[tuple[str, str, str]] = Counter()
    rounds = []
    for number in range(size):
        chosen = min(pool, key=lambda one: (_rarest(one, used), taken[one], _total(one, used)))
        taken[chosen] += 1
        used.update(_parts(chosen))
        sabotage, moment, case = chosen
        rounds.append(Round(number, case, sabotage, moment, f"{seed}-{number}"))
    return rounds


def clean(seed: int, size: int, quick: bool = False, first: int = 0) -> list[Round]:
    """Return the clean runs: every case equally often."""
    cases = QUICK_CASES if quick else tuple(oracle.POSSIBLE)
    return [
        Round(first + number, cases[number % len(cases)], seed=f"{seed}-clean-{number}")
        for number in range(size)
    ]


def _rarest(one: tuple[str, str, str], used: Counter[str]) -> int:
    """How often the rarest part was used, the moment excepted: there are few of them."""
    sabotage, _, case = _parts(one)
    return min(used[sabotage], used[case])


def _total(one: tuple[str, str, str], used: Counter[str]) -> int:
    return sum(used[part] for part in _parts(one))


def _parts(one: tuple[str, str, str]) -> tuple[str, str, str]:
    sabotage, moment, case = one
    return f"sabotage={sabotage}", f"moment={moment}", f"scenario={case}"


def _is_wanted(one: tuple[str, str, str], only: Iterable[str]) -> bool:
    parts = _parts(one)
    both = "scenario=constrained"
    return all(
        text in parts or (text == both and parts[2].startswith(both)) for text in only if text
    )
