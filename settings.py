"""The stack's config as typed, checked values. Nothing else reads `pulumi.Config`.

Defaults are in Pulumi.yaml only. What a value may be is checked here; what a scenario needs of the
values is in lockstep/scenarios/registry.py.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pulumi
from pulumi.runtime import get_config_env
from pulumi.runtime.config import CONFIG

from lockstep import config_values as values
from lockstep import versions
from lockstep.scenarios.model import Scenario, Sizes
from lockstep.scenarios.registry import SCENARIOS

NAMESPACE = "lockstep"
ProviderName = Literal["kwok", "kind", "existing"]
PROVIDERS: tuple[str, ...] = get_args(ProviderName)
ChartSource = Literal["local", "published"]

LONGEST_CLUSTER_NAME = 63 - len("-control-plane")
"""kind names its nodes after the cluster, and a host name has at most 63 characters."""

MOST_WORKERS, MOST_PODS = 1_000, 10_000
"""Each worker is a resource of the stack: without a limit, a slip would exhaust the memory."""


class SettingsError(pulumi.RunError):
    """Invalid config, a line per fault; Pulumi prints a RunError without a traceback."""


@dataclass(frozen=True)
class ClusterSettings:
    """Where the scenarios run."""

    provider: ProviderName
    """What creates the cluster, or `existing`."""
    name: str
    """Names the cluster and everything that is created for it."""
    kubernetes_version: str
    """For kwok; kind has the version of its node image, an existing cluster its own."""
    kind_node_image: str
    """For kind: the node image."""
    worker_cpu: str
    """Size of a simulated worker; elsewhere the real allocatable is read."""
    worker_memory: str
    """Size of a simulated worker; elsewhere the real allocatable is read."""
    kubeconfig: str | None
    """For `existing`: path of the kubeconfig file, or None for kubectl's default."""
    kube_context: str | None
    """For `existing`: never None there."""
    export_kubeconfig: bool
    """For `existing`: whether the stack's outputs, and so its state, have the kubeconfig."""


@dataclass(frozen=True)
class PlatformSettings:
    """What is installed in the cluster."""

    volcano_version: str
    """Pinned, without a leading v."""
    lws_version: str
    """Pinned, without a leading v."""
    charts: ChartSource
    """Whether the charts come from the toolchain or from their publishers."""
    gang_scheduling: bool
    """Whether LWS creates PodGroups."""
    install_volcano: bool
    """False only for `existing`: the cluster has Volcano already."""
    install_lws: bool
    """False only for `existing`: the cluster has LWS already."""


@dataclass(frozen=True)
class ScenarioSettings:
    """What is deployed and judged."""

    names: tuple[str, ...]
    """In the order given; empty means the platform only."""
    workers: int
    """In the pool of each scenario."""
    tainted_workers: int
    """Blocked in the pools of the scenarios that block workers."""
    group_size: int
    """Pods per gang, leader included."""
    groups: int
    """Gangs."""

    @property
    def entries(self) -> list[Scenario]:
        """The chosen entries of the registry."""
        return [SCENARIOS[name] for name in self.names]

    def sizes(self, scenario: Scenario) -> Sizes:
        """Return the numbers that one scenario runs with."""
        groups = self.groups if scenario.groups is None else scenario.groups
        blocked = self.tainted_workers if scenario.needs.blocks_workers else 0
        return Sizes(self.workers, blocked, self.group_size, groups)


@dataclass(frozen=True)
class Settings:
    """Everything that a stack decides."""

    stack: str
    """The stack's name."""
    cluster: ClusterSettings
    platform: PlatformSettings
    scenarios: ScenarioSettings

    @property
    def versions(self) -> dict[str, str]:
        """The versions that the stack itself installs; those of an existing cluster are unknown."""
        cluster, platform = self.cluster, self.platform
        kubernetes = {
            "kwok": cluster.kubernetes_version,
            "kind": versions.of_image(cluster.kind_node_image),
        }
        installed = {
            "kubernetes": kubernetes.get(cluster.provider),
            "volcano": platform.volcano_version if platform.install_volcano else None,
            "lws": platform.lws_version if platform.install_lws else None,
        }
        return {part: version for part, version in installed.items() if version}


READERS: Mapping[str, values.Reader[Any]] = {
    "clusterProvider": values.one_of(PROVIDERS),
    "clusterName": values.label(longest=LONGEST_CLUSTER_NAME),
    "workersPerScenario": values.integer(minimum=1, maximum=MOST_WORKERS),
    "workerCpu": values.amount(minimum="100m", example="4"),
    "workerMemory": values.amount(minimum="64Mi", example="8Gi"),
    "kubeconfig": values.text,
    "kubeContext": values.text,
    "exportKubeconfig": values.boolean,
    "kindNodeImage": values.text,
    "volcanoVersion": values.one_of(versions.VOLCANO_SUPPORTED),
    "lwsVersion": values.one_of(versions.LWS_SUPPORTED),
    "kubernetesVersion": values.one_of(versions.KUBERNETES_SUPPORTED),
    "charts": values.one_of(get_args(ChartSource)),
    "installVolcano": values.boolean,
    "installLws": values.boolean,
    "gangScheduling": values.boolean,
    "scenarios": values.some_of(tuple(SCENARIOS)),
    "taintedWorkers": values.integer(minimum=0, maximum=MOST_WORKERS),
    "groupSize": values.integer(minimum=2, maximum=MOST_PODS),
    "groups": values.integer(minimum=1, maximum=MOST_PODS),
}
"""The keys of the namespace, each with the reader that checks its value."""


ALREADY_REPORTED = 32
"""Exit code with which a Python program tells Pulumi that it has printed the error itself."""


def load_or_exit() -> Settings:
    """Load the settings; on invalid config print its faults, without Pulumi's frame, and exit."""
    try:
        return load()
    except SettingsError as error:
        pulumi.log.error(str(error))
        sys.exit(ALREADY_REPORTED)


def load() -> Settings:
    """Read and check the stack's config; report all faults at once, a line each."""
    stack = pulumi.get_stack()
    texts = _texts()
    if texts.get("clusterName") == "":
        texts["clusterName"] = f"lockstep-{stack}"
    if texts.get("kindNodeImage") == "":
        texts["kindNodeImage"] = versions.KIND_NODE_IMAGE
    parsed, faults = _read(texts)
    _raise_if_any(faults)
    settings = _build(stack, parsed)
    _raise_if_any([*_provider_faults(settings, texts), *_scenario_faults(settings)])
    return settings


def _texts() -> dict[str, str]:
    """Return the namespace's values as Pulumi passes them: text, with JSON for lists."""
    config = pulumi.Config(NAMESPACE)
    prefix = config.full_key("")
    given = [key for key in {**get_config_env(), **CONFIG.get()} if key.startswith(prefix)]
    keys = [*READERS, *(key.removeprefix(prefix) for key in given)]
    return {key: value for key in keys if (value := config.get(key)) is not None}


def _read(texts: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the values by key, and a fault for each key that is missing, unknown or invalid."""
    parsed: dict[str, Any] = {}
    faults = [_unknown(key, texts[key]) for key in texts if key not in READERS]
    for key, read in READERS.items():
        if key not in texts:
            faults.append(f"{NAMESPACE}:{key} is missing: its default is in Pulumi.yaml")
            continue
        try:
            parsed[key] = read(texts[key])
        except values.InvalidValue as allowed:
            faults.append(_fault(key, texts[key], f"must be {allowed}"))
    return parsed, faults


def _build(stack: str, parsed: Mapping[str, Any]) -> Settings:
    return Settings(
        stack=stack,
        cluster=ClusterSettings(
            provider=parsed["clusterProvider"],
            name=parsed["clusterName"],
            kubernetes_version=parsed["kubernetesVersion"],
            kind_node_image=parsed["kindNodeImage"],
            worker_cpu=parsed["workerCpu"],
            worker_memory=parsed["workerMemory"],
            kubeconfig=parsed["kubeconfig"] or None,
            kube_context=parsed["kubeContext"] or None,
            export_kubeconfig=parsed["exportKubeconfig"],
        ),
        platform=PlatformSettings(
            volcano_version=parsed["volcanoVersion"],
            lws_version=parsed["lwsVersion"],
            charts=parsed["charts"],
            gang_scheduling=parsed["gangScheduling"],
            install_volcano=parsed["installVolcano"],
            install_lws=parsed["installLws"],
        ),
        scenarios=ScenarioSettings(
            names=parsed["scenarios"],
            workers=parsed["workersPerScenario"],
            tainted_workers=parsed["taintedWorkers"],
            group_size=parsed["groupSize"],
            groups=parsed["groups"],
        ),
    )


def _provider_faults(settings: Settings, texts: Mapping[str, str]) -> Iterator[str]:
    """Check the keys that only some cluster providers take."""
    provider = settings.cluster.provider
    if provider == "existing":
        if settings.cluster.kube_context is None:
            allowed = "must name a context of your kubeconfig when clusterProvider is existing"
            yield _fault("kubeContext", "", f"{allowed} (kubectl config get-contexts lists them)")
        return
    for key in ("kubeconfig", "kubeContext"):
        if texts[key]:
            yield _fault(key, texts[key], f"must be empty when clusterProvider is {provider}")
    for key in ("installVolcano", "installLws"):
        if texts[key] == "false":
            yield _fault(key, "false", f"must be true when clusterProvider is {provider}")


def _scenario_faults(settings: Settings) -> Iterator[str]:
    """Check what the scenarios need of the numbers, of the platform and of each other."""
    scenarios, platform = settings.scenarios, settings.platform
    given = {
        "scenarios": ", ".join(scenarios.names),
        "gangScheduling": str(platform.gang_scheduling).lower(),
        "installVolcano": str(platform.install_volcano).lower(),
        "workersPerScenario": str(scenarios.workers),
        "taintedWorkers": str(scenarios.tainted_workers),
        "groupSize": str(scenarios.group_size),
        "groups": str(scenarios.groups),
    }
    faults = [
        fault
        for scenario in scenarios.entries
        for fault in scenario.faults(
            scenarios.sizes(scenario),
            gang_scheduling=platform.gang_scheduling,
            own_volcano=platform.install_volcano,
            is_alone=len(scenarios.names) == 1,
        )
    ]
    for fault in dict.fromkeys(faults):  # two scenarios may have the same fault
        yield _fault(fault.key, given[fault.key], fault.allowed)


def _unknown(key: str, value: str) -> str:
    known = {name.lower(): name for name in READERS}  # so that a slip in case is near, too
    near = difflib.get_close_matches(key.lower(), known, n=1)
    hint = f"did you mean {NAMESPACE}:{known[near[0]]}?" if near else f"keys: {', '.join(READERS)}"
    return _fault(key, value, f"no such key; {hint}")


def _fault(key: str, value: str, allowed: str) -> str:
    return f"{NAMESPACE}:{key} is {value!r}: {allowed}"


def _raise_if_any(faults: Iterable[str]) -> None:
    lines = "\n".join(faults)
    if lines:
        raise SettingsError(lines)
