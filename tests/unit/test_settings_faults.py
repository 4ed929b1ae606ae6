"""Invalid config: one line per fault, which names the key, the value and what is allowed."""

from typing import Any

import pytest

import settings
from settings import SettingsError
from tests.unit.conftest import ConfigureStack


def fault(configure_stack: ConfigureStack, stack: str, **changes: Any) -> str:
    configure_stack(stack, **changes)
    with pytest.raises(SettingsError) as raised:
        settings.load()
    return str(raised.value)


INVALID = {
    "clusterProvider": ["minikube", "Kind", ""],
    "clusterName": ["My_Cluster", "-lead", "trail-", "a.b", "line\n", "n" * 50],
    "workersPerScenario": ["0", "1001", "three", "3.0", "", "1_0", "9" * 5000],
    "workerCpu": ["four", "4 cores", "0", "-4", "99m", "10001", "1e30", "9E"],
    "workerMemory": ["8GB", "8", "100m", "0", "-8Gi", "65Ti", "8Ei"],
    "volcanoVersion": ["1.0.0", "latest"],
    "lwsVersion": ["0.6.0", "v0.8.0"],
    "kubernetesVersion": ["1.0"],
    "charts": ["remote"],
    "exportKubeconfig": ["maybe"],
    "installVolcano": ["yes", "false"],
    "installLws": ["1", "false"],
    "gangScheduling": ["on", "True"],
    "scenarios": [
        "gang",
        '"gang"',
        '{"gang": true}',
        "[1]",
        "[[]]",
        '["gang", "chaos"]',
        '["gang", "gang"]',
    ],
    "taintedWorkers": ["-1", "two"],
    "groupSize": ["1", "true", "7", "10001"],
    "groups": ["0", "1e1", "2"],
    "kubeconfig": ["/kube.yaml"],
    "kubeContext": ["prod"],
}
"""By key, values that the stack gang refuses."""


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, found in INVALID.items() for value in found]
)
def test_invalid_value_is_refused_in_one_line(
    key: str, value: str, configure_stack: ConfigureStack
) -> None:
    line = fault(configure_stack, "gang", **{key: value})
    assert line.startswith(f"lockstep:{key} is {value!r}: must be ")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("stack", "changes", "allowed"),
    [
        ("gang", {"clusterProvider": "minikube"}, "must be one of: kwok, kind, existing"),
        (
            "gang",
            {"workerMemory": "8"},
            "must be a Kubernetes quantity from 64Mi to 64Ti, such as 8Gi",
        ),
        ("gang", {"groups": "0"}, "must be a whole number from 1 to 10000"),
        (
            "gang",
            {"groupSize": "7"},
            "must be at most 6, as workersPerScenario 3 is room for 6 pods",
        ),
        ("gang", {"group": "4"}, "no such key; did you mean lockstep:groups?"),
        ("gang", {"lws-version": "0.8.0"}, "no such key; did you mean lockstep:lwsVersion?"),
        ("gang", {"colour": "red"}, f"no such key; keys: {', '.join(settings.READERS)}"),
        ("kind", {"kubeconfig": "x"}, "must be empty when clusterProvider is kind"),
        ("kind", {"kubeContext": "x"}, "must be empty when clusterProvider is kind"),
        (
            "existing",
            {"kubeContext": ""},
            "must name a context of your kubeconfig when clusterProvider is existing "
            "(kubectl config get-contexts lists them)",
        ),
        (
            "kind",
            {"workersPerScenario": "1000", "scenarios": '["gang"]'},
            "must be at most 90: each worker of kind takes up to 256 MiB, and this machine has "
            "24.0 GiB of memory",
        ),
        (
            "kind",
            {"workersPerScenario": "91", "scenarios": "[]"},
            "must be at most 90: each worker of kind takes up to 256 MiB, and this machine has "
            "24.0 GiB of memory",
        ),
        (
            "contention",
            {"groups": "10000", "workersPerScenario": "3", "groupSize": "6"},
            "must be less, as groupSize x groups is 60000 pods in all scenarios: this machine has "
            "24.0 GiB of memory, enough for 47080 beside the workers",
        ),
        (
            "preemption",
            {"installVolcano": "false", "clusterProvider": "existing", "kubeContext": "mine"},
            "must be true for preemption, which needs a scheduler that preempts",
        ),
    ],
)
def test_line_says_what_is_allowed(
    stack: str, changes: dict[str, str], allowed: str, configure_stack: ConfigureStack
) -> None:
    key, value = next(iter(changes.items()))
    line = fault(configure_stack, stack, **changes)
    assert line == f"lockstep:{key} is {value!r}: {allowed}"


def test_stack_name_that_makes_a_bad_cluster_name_is_refused(
    configure_stack: ConfigureStack,
) -> None:
    assert (
        fault(configure_stack, "My_stack")
        == "lockstep:clusterName is 'lockstep-My_stack': must be at most 49 lower-case letters, "
        "digits and hyphens, beginning and ending with a letter or digit"
    )
    configure_stack("My_stack", clusterName="mine")
    assert settings.load().cluster_name == "mine"


def test_missing_key_is_refused(configure_stack: ConfigureStack) -> None:
    assert fault(configure_stack, "gang", groups=None) == (
        "lockstep:groups is missing: its default is in Pulumi.yaml"
    )


def test_all_faults_are_told_at_once(configure_stack: ConfigureStack) -> None:
    lines = fault(configure_stack, "gang", groups="x", groupSize=0, grups=1).splitlines()
    assert [line.split()[0] for line in lines] == [
        "lockstep:grups",
        "lockstep:groupSize",
        "lockstep:groups",
    ]


def test_impossible_numbers_are_reported_at_once(configure_stack: ConfigureStack) -> None:
    lines = fault(configure_stack, "gang", workersPerScenario=1, kubeContext="x").splitlines()
    assert [line.split()[0] for line in lines] == ["lockstep:kubeContext", "lockstep:groupSize"]


@pytest.mark.parametrize(
    ("stack", "changes"),
    [
        ("gang", {"clusterName": "a"}),
        ("gang", {"clusterName": "n" * 49}),
        ("gang", {"clusterName": "0-9"}),
        ("gang", {"workerCpu": "100m"}),
        ("gang", {"workerCpu": "0.1"}),
        ("gang", {"workerCpu": "10000"}),
        ("gang", {"workerMemory": "64Mi"}),
        ("gang", {"workerMemory": "64Ti"}),
        ("gang", {"workersPerScenario": "1000", "groups": "500"}),
        ("gang", {"groupSize": "2"}),
        ("gang", {"groupSize": "6"}),
        ("gang", {"workersPerScenario": "500"}),
        # taintedWorkers is 2, but only counts where a scenario blocks workers.
        ("gang", {"workersPerScenario": "1", "groupSize": "2"}),
        # The platform alone needs no room.
        ("gang", {"scenarios": [], "workersPerScenario": 1}),
        # The scenario fixes the number of its groups.
        ("scale", {"groupSize": 2, "workersPerScenario": 6, "groups": 9}),
    ],
)
def test_value_at_the_edge_is_taken(
    stack: str, changes: dict[str, Any], configure_stack: ConfigureStack
) -> None:
    configure_stack(stack, **changes)
    settings.load()


@pytest.mark.parametrize(
    ("stack", "changes", "key", "limit"),
    [
        ("constrained", {"taintedWorkers": 4}, "taintedWorkers", "at most"),
        ("constrained", {"groups": 2}, "groups", "at most 1"),
        ("no-gang", {"taintedWorkers": 3}, "taintedWorkers", "at most 2"),
        ("contention", {"groups": 1}, "groups", "at least 2"),
        ("contention", {"scenarios": ["contention", "no-gang"]}, "scenarios", "alone"),
        ("contention-control", {"workersPerScenario": 8}, "groups", "at least 5"),
        ("contention-control", {"gangScheduling": True}, "gangScheduling", "must be false"),
        ("queue-cap", {"groups": 1}, "groups", "at least 2"),
        ("queue-cap", {"groups": 4}, "groups", "at most 3"),
        ("preemption", {"workersPerScenario": 4}, "groups", "at least 2"),
        ("recovery", {"workersPerScenario": 2}, "workersPerScenario", "at least 3"),
        ("recovery", {"groups": 2}, "groups", "at most 1"),
        ("rolling-update", {"workersPerScenario": 5}, "workersPerScenario", "at least 6"),
        ("scale", {"workersPerScenario": 11}, "workersPerScenario", "at least 12"),
        ("leader-ready", {"groupSize": 2}, "groupSize", "more than 2"),
        ("missing-rbac", {"scenarios": ["missing-rbac", "gang"]}, "scenarios", "alone"),
        ("missing-rbac", {"gangScheduling": False}, "gangScheduling", "must be true"),
    ],
)
def test_what_a_scenario_cannot_run_with_is_refused(
    stack: str, changes: dict[str, Any], key: str, limit: str, configure_stack: ConfigureStack
) -> None:
    changes = {"taintedWorkers": 1} | changes if stack == "contention" else changes
    line = fault(configure_stack, stack, **changes)
    assert line.startswith(f"lockstep:{key} is ")
    assert limit in line
    assert "\n" not in line


@pytest.mark.parametrize(("blocked", "refused"), [(3, False), (2, True), (1, False), (0, False)])
def test_constrained_gangs_are_held_or_released_all(
    blocked: int, refused: bool, configure_stack: ConfigureStack
) -> None:
    changes = {"workersPerScenario": 4, "groupSize": 3, "groups": 2, "taintedWorkers": blocked}
    if refused:
        assert "1 of 2 gangs would fit" in fault(configure_stack, "constrained", **changes)
    else:
        configure_stack("constrained", **changes)
        assert settings.load().tainted_workers == blocked
