"""The stack's config as typed, checked values. Nothing else reads `pulumi.Config`.

Defaults are in Pulumi.yaml only. What a value may be is checked here; what a scenario needs of the
values is in lockstep/scenarios/registry.py.
"""

import difflib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pulumi
from pulumi.runtime import get_config_env
from pulumi.runtime.config import CONFIG

from lockstep import config_values as values
from lockstep import machine, versions
from lockstep.scenarios import limits
from lockstep.scenarios.model import Scenario, Sizes
from lockstep.scenarios.registry import SCENARIOS

NAMESPACE = "lockstep"

LONGEST_CLUSTER_NAME = 63 - len("-control-plane")
"""kind names its nodes after the cluster, and a host name has at most 63 characters."""

MOST_WORKERS, MOST_PODS = 1_000, 10_000
"""Whatever the machine: a step gets the names of its workers in a variable of at most 128 KiB."""


class SettingsError(Exception):
    """Invalid config, a line per fault."""


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """What a stack decides: a field per config key, which Pulumi.yaml describes."""

    cluster_provider: str
    cluster_name: str
    workers_per_scenario: int
    worker_cpu: str
    worker_memory: str
    kubeconfig: str
    kube_context: str
    export_kubeconfig: bool
    kind_node_image: str
    volcano_version: str
    lws_version: str
    kubernetes_version: str
    charts: str
    install_volcano: bool
    install_lws: bool
    gang_scheduling: bool
    scenarios: tuple[str, ...]
    tainted_workers: int
    group_size: int
    groups: int

    def sizes(self, scenario: Scenario) -> Sizes:
        """Return the numbers that one scenario runs with."""
        groups = self.groups if scenario.groups is None else scenario.groups
        blocked = self.tainted_workers if scenario.needs.blocks_workers else 0
        return Sizes(self.workers_per_scenario, blocked, self.group_size, groups)

    @property
    def versions(self) -> dict[str, str]:
        """The versions that the stack itself installs; those of an existing cluster are unknown."""
        kubernetes = {
            "kwok": self.kubernetes_version,
            "kind": versions.of_image(self.kind_node_image),
        }
        installed = {
            "kubernetes": kubernetes.get(self.cluster_provider),
            "volcano": self.volcano_version if self.install_volcano else None,
            "lws": self.lws_version if self.install_lws else None,
        }
        return {part: version for part, version in installed.items() if version}


READERS: Mapping[str, values.Reader[Any]] = {
    "clusterProvider": values.one_of(("kwok", "kind", "existing")),
    "clusterName": values.label(longest=LONGEST_CLUSTER_NAME),
    "workersPerScenario": values.integer(minimum=1, maximum=MOST_WORKERS),
    "workerCpu": values.amount(minimum="100m", maximum="10k", example="4"),
    "workerMemory": values.amount(minimum="64Mi", maximum="64Ti", example="8Gi"),
    "kubeconfig": values.text,
    "kubeContext": values.text,
    "exportKubeconfig": values.boolean,
    "kindNodeImage": values.text,
    "volcanoVersion": values.one_of(versions.VOLCANO_SUPPORTED),
    "lwsVersion": values.one_of(versions.LWS_SUPPORTED),
    "kubernetesVersion": values.one_of(versions.KUBERNETES_SUPPORTED),
    "charts": values.one_of(("local", "published")),
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
    texts = _texts()
    if texts.get("clusterName") == "":
        texts["clusterName"] = f"lockstep-{pulumi.get_stack()}"
    if texts.get("kindNodeImage") == "":
        texts["kindNodeImage"] = versions.KIND_NODE_IMAGE
    parsed, faults = _read(texts)
    _raise_if_any(faults)
    settings = msgspec.convert(parsed, Settings)
    _raise_if_any([*_provider_faults(settings, texts), *_scenario_faults(settings, texts)])
    return settings


def warn_of_old_versions(settings: Settings) -> None:
    """Warn, in one line, of versions that their projects no longer support."""
    known = settings.versions
    old = versions.out_of_support(known.get("kubernetes"), known.get("volcano"), known.get("lws"))
    if old:
        pulumi.log.warn("; ".join(old))


def _texts() -> dict[str, str]:
    """Return the namespace's values as Pulumi passes them: text, with JSON for lists."""
    config = pulumi.Config(NAMESPACE)
    prefix = config.full_key("")
    given = [key for key in {**get_config_env(), **CONFIG.get()} if key.startswith(prefix)]
    keys = [key.removeprefix(prefix) for key in given]
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


def _provider_faults(settings: Settings, texts: Mapping[str, str]) -> Iterator[str]:
    """Check the keys that only some cluster providers take."""
    provider = settings.cluster_provider
    if provider == "existing":
        if not settings.kube_context:
            allowed = "must name a context of your kubeconfig when clusterProvider is existing"
            yield _fault("kubeContext", "", f"{allowed} (kubectl config get-contexts lists them)")
        return
    for key in ("kubeconfig", "kubeContext"):
        if texts[key]:
            yield _fault(key, texts[key], f"must be empty when clusterProvider is {provider}")
    for key in ("installVolcano", "installLws"):
        if texts[key] == "false":
            yield _fault(key, "false", f"must be true when clusterProvider is {provider}")


def _scenario_faults(settings: Settings, texts: Mapping[str, str]) -> Iterator[str]:
    """Check what the scenarios need of the numbers, of the platform and of each other."""
    given = {**texts, "scenarios": ", ".join(settings.scenarios)}
    faults = [
        fault
        for name in settings.scenarios
        for fault in SCENARIOS[name].faults(
            settings.sizes(SCENARIOS[name]),
            gang_scheduling=settings.gang_scheduling,
            own_volcano=settings.install_volcano,
            is_alone=len(settings.scenarios) == 1,
        )
    ]
    # Without scenarios, kind has the workers of one.
    alone = Sizes(settings.workers_per_scenario, blocked=0, size=1, groups=0)
    sizes = [settings.sizes(SCENARIOS[name]) for name in settings.scenarios] or [alone]
    faults += limits.faults(settings.cluster_provider, sizes, machine.memory())
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
