"""What is deployed and judged: one class per scenario of lockstep/scenarios/registry.py."""

from collections.abc import Iterable

from .base import Scenario, ScenarioArgs
from .constrained import Constrained
from .contention import Contention
from .contention_control import ContentionControl
from .gang import Gang
from .leader_ready import LeaderReady
from .missing_rbac import MissingRbac
from .no_gang import NoGang
from .preemption import Preemption
from .queue_cap import QueueCap
from .recovery import Recovery
from .rolling_update import RollingUpdate
from .scale import Scale

__all__ = ["SCENARIOS", "Scenario", "ScenarioArgs", "scheduler_conf"]

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


def scheduler_conf(names: Iterable[str], volcano: str) -> str | None:
    """Return the scheduler's configuration that some scenarios need; None: the chart's own."""
    return next((conf for name in names if (conf := SCENARIOS[name].scheduler_conf(volcano))), None)
