"""What drills need of the config: workers to lose or to surge to, and LWS to themselves."""

from __future__ import annotations

from typing import Any

import pytest

import settings
from settings import SettingsError
from tests.unit.conftest import ConfigureStack

DRILLED = ["recovery", "rolling-update", "scale", "leader-ready", "missing-rbac"]


@pytest.mark.parametrize("stack", DRILLED)
def test_stack_of_each_drill_fits(configure_stack: ConfigureStack, stack: str) -> None:
    configure_stack(stack)
    assert settings.load().scenarios.names == (stack,)


@pytest.mark.parametrize(
    ("stack", "changes", "told"),
    [
        (
            "recovery",
            {"workersPerScenario": "2"},
            "lockstep:workersPerScenario is '2': must be at least 3 for recovery, as it loses one "
            "of them",
        ),
        (
            "rolling-update",
            {"workersPerScenario": "5"},
            "lockstep:workersPerScenario is '5': must be at least 6 for rolling-update, for one "
            "group more",
        ),
        (
            "scale",
            {"workersPerScenario": "11"},
            "lockstep:workersPerScenario is '11': must be at least 12 for scale, for 6 groups",
        ),
        (
            "leader-ready",
            {"groupSize": "2"},
            "lockstep:groupSize is '2': must be more than 2 for leader-ready, as a worker holds so "
            "many",
        ),
        (
            "missing-rbac",
            {"scenarios": '["missing-rbac", "gang"]'},
            "lockstep:scenarios is 'missing-rbac, gang': missing-rbac must be alone, as it takes "
            "LWS's rights away from all of them",
        ),
        (
            "missing-rbac",
            {"gangScheduling": "false"},
            "lockstep:gangScheduling is 'false': must be true for missing-rbac, or there is no "
            "right to take away",
        ),
        (
            "recovery",
            {"groups": "2"},
            "lockstep:groups is '2': must be at most 1 of groupSize 4, as workersPerScenario 3 is "
            "room for 6 pods",
        ),
    ],
)
def test_numbers_that_leave_a_drill_nothing_to_do_are_refused(
    configure_stack: ConfigureStack, stack: str, changes: dict[str, Any], told: str
) -> None:
    configure_stack(stack, **changes)
    with pytest.raises(SettingsError) as raised:
        settings.load()
    assert str(raised.value) == told


def test_small_groups_need_few_workers_to_scale(configure_stack: ConfigureStack) -> None:
    configure_stack("scale", groupSize="2", workersPerScenario="6")
    assert settings.load().scenarios.workers == 6
