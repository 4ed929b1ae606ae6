"""What is deployed and judged: one class per scenario, each with what it expects."""

from __future__ import annotations

from components.scenarios.base import Scenario, ScenarioArgs
from components.scenarios.constrained import Constrained
from components.scenarios.contention import Contention, ContentionControl
from components.scenarios.gang import Gang
from components.scenarios.leader_ready import LeaderReady
from components.scenarios.missing_rbac import MissingRbac
from components.scenarios.no_gang import NoGang
from components.scenarios.preemption import Preemption
from components.scenarios.queue_cap import QueueCap
from components.scenarios.recovery import Recovery
from components.scenarios.rolling_update import RollingUpdate
from components.scenarios.scale import Scale

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
