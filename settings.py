"""The stack's config as typed, checked values. Nothing else reads `pulumi.Config`.

Defaults are in Pulumi.yaml only; what is allowed is here only.
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

from lockstep import values, versions
from lockstep.judge.rules.scaled import STEPS
from lockstep.kube.pool import PODS_PER_WORKER, capacity, workers_for

NAMESPACE = "lockstep"
ProviderName = Literal["kwok", "kind", "existing"]
PROVIDERS: tuple[str, ...] = get_args(ProviderName)
SCENARIOS = (
    "gang",
    "constrained",
    "no-gang",
    "contention",
    "contention-control",
    "queue-cap",
    "preemption",
    "recovery",
    "rolling-update",
    "scale",
    "leader-ready",
    "missing-rbac",
)
WHOLE = frozenset(
    {"gang", "constrained", "queue-cap", "preemption", "recovery", "rolling-update", "missing-rbac"}
)
"""Scenarios whose every group is placed in the end, so that all must fit the unblocked pool."""

CROWDED = frozenset({"contention", "contention-control"})
"""Scenarios with more groups than fit, which is what they are about."""

LONGEST_CLUSTER_NAME = 63 - len("-control-plane")
"""kind names its nodes after the cluster, and a host name has at most 63 characters."""


class SettingsError(pulumi.RunError):
    """Bad config, a line per fault; Pulumi prints a RunError without a traceback."""


@dataclass(frozen=True)
class ClusterSettings:
    """Where the scenarios run."""

    provider: ProviderName
    """Who makes the cluster."""
    name: str
    """Names the cluster and all that is made for it."""
    kubernetes_version: str
    """For kwok; kind has that of its node image, an existing cluster its own."""
    worker_cpu: str
    """Size of a simulated worker; elsewhere the real allocatable is read."""
    worker_memory: str
    """Size of a simulated worker; elsewhere the real allocatable is read."""
    kubeconfig: str | None
    """For `existing`: path of the kubeconfig file, or None for kubectl's own default."""
    kube_context: str | None
    """For `existing`: never None there."""


@dataclass(frozen=True)
class PlatformSettings:
    """What is installed in the cluster."""

    volcano_version: str
    """Pinned, without a leading v."""
    lws_version: str
    """Pinned, without a leading v."""
    gang_scheduling: bool
    """Whether LWS creates PodGroups."""
    install_volcano: bool
    """False only for `existing`: Volcano is there already."""
    install_lws: bool
    """False only for `existing`: LWS is there already."""


@dataclass(frozen=True)
class ScenarioSettings:
    """What is deployed and judged."""

    names: tuple[str, ...]
    """In the order given; none means the platform only."""
    workers: int
    """In the pool of each scenario."""
    tainted_workers: int
    """Blocked in the pools of constrained and no-gang."""
    group_size: int
    """Pods per gang, leader included."""
    groups: int
    """Gangs."""


@dataclass(frozen=True)
class Settings:
    """Everything that a stack decides."""

    stack: str
    """The stack's own name."""
    cluster: ClusterSettings
    """Where."""
    platform: PlatformSettings
    """With what."""
    scenarios: ScenarioSettings
    """What."""

    @property
    def versions(self) -> dict[str, str]:
        """What the stack itself brings; of what a cluster has already it cannot tell."""
        brought = {
            "kubernetes": (self.cluster.provider != "existing", self.cluster.kubernetes_version),
            "volcano": (self.platform.install_volcano, self.platform.volcano_version),
            "lws": (self.platform.install_lws, self.platform.lws_version),
        }
        return {part: version for part, (is_ours, version) in brought.items() if is_ours}


READERS: Mapping[str, values.Reader[Any]] = {
    "clusterProvider": values.one_of(PROVIDERS),
    "clusterName": values.label(longest=LONGEST_CLUSTER_NAME),
    "workersPerScenario": values.integer(minimum=1),
    "workerCpu": values.amount(minimum="100m", example="4"),
    "workerMemory": values.amount(minimum="64Mi", example="8Gi"),
    "kubeconfig": values.text,
    "kubeContext": values.text,
    "volcanoVersion": values.one_of(versions.VOLCANO_SUPPORTED),
    "lwsVersion": values.one_of(versions.LWS_SUPPORTED),
    "kubernetesVersion": values.one_of(versions.KUBERNETES_SUPPORTED),
    "installVolcano": values.boolean,
    "installLws": values.boolean,
    "gangScheduling": values.boolean,
    "scenarios": values.some_of(SCENARIOS),
    "taintedWorkers": values.integer(minimum=0),
    "groupSize": values.integer(minimum=2),
    "groups": values.integer(minimum=1),
}
"""The keys of the namespace, each with what it allows."""


REPORTED = 32
"""The exit code by which a Python program tells Pulumi that it has said itself what is wrong."""


def load_or_exit() -> Settings:
    """Load; end the program on bad config, with its lines and nothing of Pulumi's on top."""
    try:
        return load()
    except SettingsError as fault:
        pulumi.log.error(str(fault))
        sys.exit(REPORTED)


def load() -> Settings:
    """Read and check the stack's config; report all faults at once, a line each."""
    stack = pulumi.get_stack()
    texts = _texts()
    if texts.get("clusterName") == "":
        texts["clusterName"] = f"lockstep-{stack}"
    found, faults = _read(texts)
    _raise_if_any(faults)
    settings = _build(stack, found)
    _raise_if_any(
        [
            *_provider_faults(settings),
            *_platform_faults(settings),
            *_room_faults(settings.scenarios),
        ]
    )
    return settings


def _texts() -> dict[str, str]:
    """Return the namespace's values as Pulumi hands them over: text, with JSON for lists."""
    config = pulumi.Config(NAMESPACE)
    prefix = config.full_key("")
    given = [key for key in {**get_config_env(), **CONFIG.get()} if key.startswith(prefix)]
    keys = [*READERS, *(key.removeprefix(prefix) for key in given)]
    return {key: value for key in keys if (value := config.get(key)) is not None}


def _read(texts: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Values by key, and a fault for each key that is missing, unknown or not allowed."""
    found: dict[str, Any] = {}
    faults = [_unknown(key, texts[key]) for key in texts if key not in READERS]
    for key, read in READERS.items():
        if key not in texts:
            faults.append(f"{NAMESPACE}:{key} is missing: its default is in Pulumi.yaml")
            continue
        try:
            found[key] = read(texts[key])
        except values.NotAllowed as allowed:
            faults.append(_fault(key, texts[key], f"must be {allowed}"))
    return found, faults


def _build(stack: str, found: Mapping[str, Any]) -> Settings:
    return Settings(
        stack=stack,
        cluster=ClusterSettings(
            provider=found["clusterProvider"],
            name=found["clusterName"],
            kubernetes_version=found["kubernetesVersion"],
            worker_cpu=found["workerCpu"],
            worker_memory=found["workerMemory"],
            kubeconfig=found["kubeconfig"] or None,
            kube_context=found["kubeContext"] or None,
        ),
        platform=PlatformSettings(
            volcano_version=found["volcanoVersion"],
            lws_version=found["lwsVersion"],
            gang_scheduling=found["gangScheduling"],
            install_volcano=found["installVolcano"],
            install_lws=found["installLws"],
        ),
        scenarios=ScenarioSettings(
            names=found["scenarios"],
            workers=found["workersPerScenario"],
            tainted_workers=found["taintedWorkers"],
            group_size=found["groupSize"],
            groups=found["groups"],
        ),
    )


def _provider_faults(settings: Settings) -> Iterator[str]:
    """Check what only an existing cluster needs or may have."""
    cluster, platform = settings.cluster, settings.platform
    if cluster.provider == "existing":
        if cluster.kube_context is None:
            yield _fault(
                "kubeContext",
                "",
                "must name a context of your kubeconfig when clusterProvider is existing "
                "(kubectl config get-contexts lists them)",
            )
        return
    for key, path in (("kubeconfig", cluster.kubeconfig), ("kubeContext", cluster.kube_context)):
        if path is not None:
            yield _fault(key, path, f"must be empty when clusterProvider is {cluster.provider}")
    for key, install in (
        ("installVolcano", platform.install_volcano),
        ("installLws", platform.install_lws),
    ):
        if not install:
            yield _fault(key, "false", f"must be true when clusterProvider is {cluster.provider}")


def _platform_faults(settings: Settings) -> Iterator[str]:
    """Check what a scenario needs of the platform."""
    names, platform = settings.scenarios.names, settings.platform
    if "contention-control" in names and platform.gang_scheduling:
        allowed = (
            "must be false for contention-control, as LWS would make PodGroups for it although "
            "another scheduler places it (lws#630)"
        )
        yield _fault("gangScheduling", "true", allowed)
    if "contention" in names and len(names) > 1:
        allowed = (
            "contention must be alone, as Volcano admits gangs by the room of the whole cluster: "
            "those that wait there would keep others out"
        )
        yield _fault("scenarios", ", ".join(names), allowed)
    if "missing-rbac" in names:
        if not platform.gang_scheduling:
            allowed = "must be true for missing-rbac, or there is no right to take away"
            yield _fault("gangScheduling", "false", allowed)
        if len(names) > 1:
            allowed = "missing-rbac must be alone, as it takes LWS's rights away from all of them"
            yield _fault("scenarios", ", ".join(names), allowed)
    if "preemption" in names and not platform.install_volcano:
        allowed = "must be true for preemption, which needs a scheduler that preempts"
        yield _fault("installVolcano", "false", allowed)


def _room_faults(scenarios: ScenarioSettings) -> Iterator[str]:
    """Find numbers that are fine alone and impossible together."""
    workers, size, groups = scenarios.workers, scenarios.group_size, scenarios.groups
    room = capacity(workers, blocked=0)
    because = f"as workersPerScenario {workers} is room for {room} pods"
    if scenarios.tainted_workers > workers:
        allowed = f"must be at most workersPerScenario, which is {workers}"
        yield _fault("taintedWorkers", str(scenarios.tainted_workers), allowed)
    if not scenarios.names:
        return
    if size > room:
        yield _fault("groupSize", str(size), f"must be at most {room}, {because}")
    elif size * groups > room and WHOLE.intersection(scenarios.names):
        most = room // size
        yield _fault(
            "groups", str(groups), f"must be at most {most} of groupSize {size}, {because}"
        )
    else:
        yield from _blocking_faults(scenarios)
        yield from _crowd_faults(scenarios, room)
        yield from _drill_faults(scenarios)


def _drill_faults(scenarios: ScenarioSettings) -> Iterator[str]:
    """Find workers that are too few for what a drill does, or a group that it cannot split."""
    size, groups = scenarios.group_size, scenarios.groups
    needs = {
        "recovery": (workers_for(size * groups) + 1, "as it loses one of them"),
        "rolling-update": (workers_for(size * (groups + 1)), "for one group more"),
        "scale": (workers_for(size * max(STEPS)), f"for {max(STEPS)} groups"),
        "leader-ready": (workers_for(size), "for a whole group"),
    }
    for name, (least, why) in needs.items():
        if name in scenarios.names and scenarios.workers < least:
            allowed = f"must be at least {least} for {name}, {why}"
            yield _fault("workersPerScenario", str(scenarios.workers), allowed)
    if "leader-ready" in scenarios.names and size <= PODS_PER_WORKER:
        allowed = f"must be more than {PODS_PER_WORKER} for leader-ready, as a worker holds so many"
        yield _fault("groupSize", str(size), allowed)


def _crowd_faults(scenarios: ScenarioSettings, room: int) -> Iterator[str]:
    """Find numbers that leave gangs nothing to compete for."""
    names, size, groups = scenarios.names, scenarios.group_size, scenarios.groups
    if crowded := [name for name in names if name in CROWDED]:
        least = room // size + 1
        if groups < least:
            allowed = f"must be at least {least} for {crowded[0]}, as {least - 1} would fit"
            yield _fault("groups", str(groups), allowed)
    if "queue-cap" in names and groups < 2:  # one to admit, one to keep waiting
        yield _fault("groups", str(groups), "must be at least 2 for queue-cap")
    if "preemption" in names and room - size * groups >= size:
        allowed = f"must be at least {room // size} for preemption, so that they fill the pool"
        yield _fault("groups", str(groups), allowed)


def _blocking_faults(scenarios: ScenarioSettings) -> Iterator[str]:
    """Find a number of blocked workers that leaves a scenario nothing to show."""
    workers, blocked, size = scenarios.workers, scenarios.tainted_workers, scenarios.group_size
    if "no-gang" in scenarios.names and blocked == workers:
        allowed = f"must be at most {workers - 1}, as no-gang needs a free worker"
        yield _fault("taintedWorkers", str(blocked), allowed)
    room = capacity(workers, blocked)
    if "constrained" in scenarios.names and size <= room < size * scenarios.groups:
        gangs = f"{room // size} of {scenarios.groups} gangs"
        allowed = f"must be fewer to release all gangs or more to hold all, as {gangs} would fit"
        yield _fault("taintedWorkers", str(blocked), allowed)


def _unknown(key: str, value: str) -> str:
    known = {name.lower(): name for name in READERS}  # a slip in upper and lower case is near
    near = difflib.get_close_matches(key.lower(), known, n=1)
    hint = f"did you mean {NAMESPACE}:{known[near[0]]}?" if near else f"keys: {', '.join(READERS)}"
    return _fault(key, value, f"there is no such key; {hint}")


def _fault(key: str, value: str, allowed: str) -> str:
    return f"{NAMESPACE}:{key} is {value!r}: {allowed}"


def _raise_if_any(faults: Iterable[str]) -> None:
    lines = "\n".join(faults)
    if lines:
        raise SettingsError(lines)
