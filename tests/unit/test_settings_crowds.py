"""Numbers that must leave a scenario with gangs something to compete for."""

from __future__ import annotations

import pytest

import settings
from settings import SettingsError
from tests.unit.conftest import ConfigureStack

STACKS = ("contention", "contention-control", "queue-cap", "preemption")


@pytest.mark.parametrize("stack", STACKS)
def test_each_stack_is_sound(configure_stack: ConfigureStack, stack: str) -> None:
    configure_stack(stack)
    assert settings.load().scenarios.names == (stack,)


@pytest.mark.parametrize(
    ("stack", "changes", "faults"),
    [
        (
            "contention",
            {"groups": 1},
            ["lockstep:groups is '1': must be at least 2 for contention, as 1 would fit"],
        ),
        (
            "contention",
            {"scenarios": ["contention", "no-gang"], "taintedWorkers": 1},
            [
                "lockstep:scenarios is 'contention, no-gang': contention must be alone, as Volcano "
                "admits gangs by the room of the whole cluster: those that wait there would keep "
                "others out"
            ],
        ),
        (
            "contention-control",
            {"workersPerScenario": 8},
            ["lockstep:groups is '4': must be at least 5 for contention-control, as 4 would fit"],
        ),
        (
            "contention-control",
            {"gangScheduling": True},
            [
                "lockstep:gangScheduling is 'true': must be false for contention-control, as LWS "
                "would make PodGroups for it although another scheduler places it (lws#630)"
            ],
        ),
        (
            "queue-cap",
            {"groups": 1},
            ["lockstep:groups is '1': must be at least 2 for queue-cap"],
        ),
        (
            "queue-cap",
            {"groups": 4},
            [
                "lockstep:groups is '4': must be at most 3 of groupSize 2, as workersPerScenario 3 "
                "is room for 6 pods"
            ],
        ),
        (
            "preemption",
            {"workersPerScenario": 4},
            [
                "lockstep:groups is '1': must be at least 2 for preemption, so that they fill the "
                "pool"
            ],
        ),
        (
            "preemption",
            {"clusterProvider": "existing", "kubeContext": "mine", "installVolcano": False},
            [
                "lockstep:installVolcano is 'false': must be true for preemption, which needs a "
                "scheduler that preempts"
            ],
        ),
    ],
)
def test_nothing_to_compete_for(
    configure_stack: ConfigureStack, stack: str, changes: dict[str, object], faults: list[str]
) -> None:
    configure_stack(stack, **changes)
    with pytest.raises(SettingsError) as raised:
        settings.load()
    assert str(raised.value).splitlines() == faults
