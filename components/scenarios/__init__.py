"""What is deployed and judged: one class per scenario, each with what it expects."""

from __future__ import annotations

from components.scenarios.base import Scenario, ScenarioArgs
from components.scenarios.constrained import Constrained
from components.scenarios.gang import Gang
from components.scenarios.no_gang import NoGang

__all__ = ["SCENARIOS", "Constrained", "Gang", "NoGang", "Scenario", "ScenarioArgs"]

SCENARIOS: dict[str, type[Scenario]] = {
    scenario.scenario: scenario for scenario in (Gang, Constrained, NoGang)
}
"""By the name that the stack's config uses."""
