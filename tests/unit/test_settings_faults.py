"""Bad config: one line per fault, which names the key, the value and what is allowed."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest

import settings
from lockstep import versions
from settings import SettingsError
from tests.unit.conftest import ConfigureStack

LABEL = (
    "must be at most 49 lower-case letters, digits and hyphens, "
    "beginning and ending with a letter or digit"
)
NAMES = f"must be a list without repetition, any of: {', '.join(settings.SCENARIOS)}"
CPU = "must be a Kubernetes quantity of at least 100m, such as 4"
MEMORY = "must be a Kubernetes quantity of at least 64Mi, such as 8Gi"
PROVIDER = "must be one of: kwok, kind, existing"
LWS = f"must be one of: {', '.join(versions.LWS_SUPPORTED)}"
NO_SUCH_KEY = "there is no such key; did you mean"


def fault(configure_stack: ConfigureStack, stack: str, **changes: Any) -> str:
    configure_stack(stack, **changes)
    with pytest.raises(SettingsError) as raised:
        settings.load()
    return str(raised.value)


def at_least(minimum: int) -> str:
    return f"must be a whole number of at least {minimum}"


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("clusterProvider", "minikube", PROVIDER),
        ("clusterProvider", "Kind", PROVIDER),
        ("clusterProvider", "", PROVIDER),
        ("clusterName", "My_Cluster", LABEL),
        ("clusterName", "-lead", LABEL),
        ("clusterName", "trail-", LABEL),
        ("clusterName", "a.b", LABEL),
        ("clusterName", "line\n", LABEL),
        ("clusterName", "n" * 50, LABEL),
        ("workersPerScenario", "0", at_least(1)),
        ("workersPerScenario", "three", at_least(1)),
        ("workersPerScenario", "3.0", at_least(1)),
        ("workersPerScenario", "", at_least(1)),
        ("workersPerScenario", "1_0", at_least(1)),
        ("workersPerScenario", "9" * 5000, at_least(1)),
        ("workerCpu", "four", CPU),
        ("workerCpu", "4 cores", CPU),
        ("workerCpu", "0", CPU),
        ("workerCpu", "-4", CPU),
        ("workerCpu", "99m", CPU),
        ("workerMemory", "8GB", MEMORY),
        ("workerMemory", "8", MEMORY),
        ("workerMemory", "100m", MEMORY),
        ("workerMemory", "0", MEMORY),
        ("workerMemory", "-8Gi", MEMORY),
        ("volcanoVersion", "1.0.0", f"must be one of: {', '.join(versions.VOLCANO_SUPPORTED)}"),
        ("volcanoVersion", "latest", f"must be one of: {', '.join(versions.VOLCANO_SUPPORTED)}"),
        ("lwsVersion", "0.6.0", LWS),
        ("lwsVersion", "v0.8.0", LWS),
        ("kubernetesVersion", "1.0", f"must be one of: {', '.join(versions.KUBERNETES_SUPPORTED)}"),
        ("installVolcano", "yes", "must be true or false"),
        ("installLws", "1", "must be true or false"),
        ("gangScheduling", "on", "must be true or false"),
        ("gangScheduling", "True", "must be true or false"),
        ("scenarios", "gang", NAMES),
        ("scenarios", '"gang"', NAMES),
        ("scenarios", '{"gang": true}', NAMES),
        ("scenarios", "[1]", NAMES),
        ("scenarios", "[[]]", NAMES),
        ("scenarios", '["gang", "chaos"]', NAMES),
        ("scenarios", '["no_gang"]', NAMES),
        ("scenarios", '["gang", "gang"]', NAMES),
        ("taintedWorkers", "-1", at_least(0)),
        ("taintedWorkers", "two", at_least(0)),
        ("taintedWorkers", "4", "must be at most workersPerScenario, which is 3"),
        ("groupSize", "1", at_least(2)),
        ("groupSize", "true", at_least(2)),
        ("groupSize", "7", "must be at most 6, as workersPerScenario 3 is room for 6 pods"),
        ("groups", "0", at_least(1)),
        ("groups", "1e1", at_least(1)),
        (
            "groups",
            "2",
            "must be at most 1 of groupSize 4, as workersPerScenario 3 is room for 6 pods",
        ),
        ("kubeconfig", "/kube.yaml", "must be empty when clusterProvider is kwok"),
        ("kubeContext", "prod", "must be empty when clusterProvider is kwok"),
        ("installVolcano", "false", "must be true when clusterProvider is kwok"),
        ("installLws", "false", "must be true when clusterProvider is kwok"),
        ("groupsize", "4", f"{NO_SUCH_KEY} lockstep:groupSize?"),
        ("group", "4", f"{NO_SUCH_KEY} lockstep:groups?"),
        ("taintedWorker", "1", f"{NO_SUCH_KEY} lockstep:taintedWorkers?"),
        ("lws-version", "0.8.0", f"{NO_SUCH_KEY} lockstep:lwsVersion?"),
        ("colour", "red", f"there is no such key; keys: {', '.join(settings.READERS)}"),
    ],
)
def test_bad_value_is_refused_in_one_line(
    key: str, value: str, allowed: str, configure_stack: ConfigureStack
) -> None:
    line = fault(configure_stack, "gang", **{key: value})
    assert line == f"lockstep:{key} is {value!r}: {allowed}"
    assert "\n" not in line


@pytest.mark.parametrize("key", ["kubeconfig", "kubeContext"])
def test_kind_takes_no_cluster_of_the_user(key: str, configure_stack: ConfigureStack) -> None:
    assert fault(configure_stack, "kind", **{key: "x"}) == (
        f"lockstep:{key} is 'x': must be empty when clusterProvider is kind"
    )


def test_existing_needs_a_context(configure_stack: ConfigureStack) -> None:
    assert fault(configure_stack, "existing") == (
        "lockstep:kubeContext is '': must name a context of your kubeconfig when clusterProvider "
        "is existing (kubectl config get-contexts lists them)"
    )


def test_stack_name_that_makes_a_bad_cluster_name_is_refused(
    configure_stack: ConfigureStack,
) -> None:
    assert (
        fault(configure_stack, "My_stack")
        == f"lockstep:clusterName is 'lockstep-My_stack': {LABEL}"
    )
    configure_stack("My_stack", clusterName="mine")
    assert settings.load().cluster.name == "mine"


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


def test_impossible_numbers_are_told_at_once(configure_stack: ConfigureStack) -> None:
    lines = fault(configure_stack, "gang", workersPerScenario=1, kubeContext="x").splitlines()
    assert [line.split()[0] for line in lines] == [
        "lockstep:kubeContext",
        "lockstep:taintedWorkers",
        "lockstep:groupSize",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("clusterName", "a"),
        ("clusterName", "n" * 49),
        ("clusterName", "0-9"),
        ("workerCpu", "100m"),
        ("workerCpu", "0.1"),
        ("workerMemory", "64Mi"),
        ("taintedWorkers", "0"),
        ("taintedWorkers", "3"),
        ("groupSize", "2"),
        ("groupSize", "6"),
        ("workersPerScenario", "2"),
        ("workersPerScenario", "500"),
    ],
)
def test_value_at_the_edge_is_taken(key: str, value: str, configure_stack: ConfigureStack) -> None:
    configure_stack("gang", **{key: value})
    settings.load()


def test_every_group_must_fit_where_every_group_is_placed(configure_stack: ConfigureStack) -> None:
    configure_stack("gang", groupSize=3, groups=2)
    assert settings.load().scenarios.groups == 2
    configure_stack("no-gang", groups=2)
    assert settings.load().scenarios.groups == 2
    assert fault(configure_stack, "constrained", groups=2).startswith("lockstep:groups is '2'")


def test_no_gang_needs_a_free_worker(configure_stack: ConfigureStack) -> None:
    assert fault(configure_stack, "no-gang", taintedWorkers=3) == (
        "lockstep:taintedWorkers is '3': must be at most 2, as no-gang needs a free worker"
    )
    configure_stack("constrained", taintedWorkers=3)
    assert settings.load().scenarios.tainted_workers == 3


@pytest.mark.parametrize(("blocked", "refused"), [(3, False), (2, True), (1, False), (0, False)])
def test_constrained_gangs_are_held_or_released_all(
    blocked: int, refused: bool, configure_stack: ConfigureStack
) -> None:
    changes = {"workersPerScenario": 4, "groupSize": 3, "groups": 2, "taintedWorkers": blocked}
    if refused:
        assert fault(configure_stack, "constrained", **changes) == (
            f"lockstep:taintedWorkers is '{blocked}': must be fewer to release all gangs or more "
            "to hold all, as 1 of 2 gangs would fit"
        )
    configure_stack("gang" if refused else "constrained", **changes)
    assert settings.load().scenarios.tainted_workers == blocked


def test_platform_alone_needs_no_room(configure_stack: ConfigureStack) -> None:
    configure_stack("gang", scenarios=[], workersPerScenario=1, taintedWorkers=1)
    assert settings.load().scenarios.names == ()


def test_error_is_printed_without_a_traceback() -> None:
    assert issubclass(SettingsError, pulumi.RunError)
