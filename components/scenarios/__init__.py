"""What is deployed and judged: one class per scenario of lockstep/scenarios/registry.py."""

from __future__ import annotations

from . import gang_variants as variants
from .base import Scenario, ScenarioArgs
from .gang import Gang
from .no_gang import NoGang
from .preemption import Preemption
from .queue_cap import QueueCap

__all__ = ["SCENARIOS", "Scenario", "ScenarioArgs"]

SCENARIOS: dict[str, type[Scenario]] = {
    scenario.scenario: scenario
    for scenario in (
        Gang,
        variants.Constrained,
        NoGang,
        variants.Contention,
        variants.ContentionControl,
        QueueCap,
        Preemption,
        variants.Recovery,
        variants.RollingUpdate,
        variants.Scale,
        variants.LeaderReady,
        variants.MissingRbac,
    )
}
"""By the name that the stack's config uses."""
