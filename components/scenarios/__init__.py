"""What is deployed and judged: one class per scenario of lockstep/scenarios/registry.py."""

from __future__ import annotations

from .base import Scenario, ScenarioArgs
from .gang import Gang
from .gang_variants import (
    Constrained,
    Contention,
    ContentionControl,
    LeaderReady,
    MissingRbac,
    Recovery,
    RollingUpdate,
    Scale,
)
from .no_gang import NoGang
from .preemption import Preemption
from .queue_cap import QueueCap

__all__ = ["SCENARIOS", "Scenario", "ScenarioArgs"]

SCENARIOS: dict[str, type[Scenario]] = {
    scenario.scenario: scenario
    for scenario in (
        Gang,
        Constrained,
        NoGang,
        Contention,
        ContentionControl,
        QueueCap,
        Preemption,
        Recovery,
        RollingUpdate,
        Scale,
        LeaderReady,
        MissingRbac,
    )
}
"""By the name that the stack's config uses."""
