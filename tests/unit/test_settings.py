"""Settings: what each stack gives, and that nothing is taken that could not work."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pulumi
import pytest
import yaml

import settings
from lockstep import versions
from lockstep.scenarios.registry import SCENARIOS
from settings import ClusterSettings, PlatformSettings, ScenarioSettings, Settings, SettingsError
from tests.unit.conftest import PROJECT_DIR, ConfigureStack

STACKS = {
    "gang": ("kwok", ("gang",)),
    "constrained": ("kwok", ("constrained",)),
    "no-gang": ("kwok", ("no-gang",)),
    "all": ("kwok", ("gang", "constrained", "no-gang")),
    "kind": ("kind", ("gang",)),
    "existing": ("existing", ()),
}
"""The article's stacks: provider and scenarios; all else is the defaults."""


def declared() -> dict[str, Any]:
    config = yaml.safe_load((PROJECT_DIR / "Pulumi.yaml").read_text())["config"]
    assert isinstance(config, dict)
    return config


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_has_a_stack_of_its_name(
    scenario: str, configure_stack: ConfigureStack
) -> None:
    assert (PROJECT_DIR / "stacks" / f"Pulumi.{scenario}.yaml").exists()
    configure_stack(scenario)
    assert settings.load().scenarios.names == (scenario,)


@pytest.mark.parametrize("stack", STACKS)
def test_stack_gives_its_settings(stack: str, configure_stack: ConfigureStack) -> None:
    provider, names = STACKS[stack]
    context = "my-cluster" if provider == "existing" else ""
    configure_stack(stack, kubeContext=context)

    assert settings.load() == Settings(
        stack=stack,
        cluster=ClusterSettings(
            provider=provider,  # type: ignore[arg-type]
            name=f"lockstep-{stack}",
            kubernetes_version="1.34.4",
            kind_node_image=versions.KIND_NODE_IMAGE,
            worker_cpu="4",
            worker_memory="8Gi",
            kubeconfig=None,
            kube_context=context or None,
            export_kubeconfig=False,
        ),
        platform=PlatformSettings(
            volcano_version="1.14.1",
            lws_version="0.8.0",
            charts="local",
            gang_scheduling=True,
            install_volcano=True,
            install_lws=True,
        ),
        scenarios=ScenarioSettings(
            names=names, workers=3, tainted_workers=2, group_size=4, groups=1
        ),
    )


def test_every_value_arrives_in_its_own_field(configure_stack: ConfigureStack) -> None:
    configure_stack(
        "existing",
        clusterName="mine",
        workersPerScenario=9,
        workerCpu="500m",
        workerMemory="64Mi",
        kubeconfig="/home/me/kube.yaml",
        kubeContext="here",
        exportKubeconfig=True,
        kindNodeImage="node:v1",
        lwsVersion="0.7.0",
        charts="published",
        installVolcano=False,
        installLws=False,
        gangScheduling=False,
        scenarios=["no-gang", "gang"],
        taintedWorkers=7,
        groupSize=6,
        groups=3,
    )
    loaded = settings.load()
    assert loaded.cluster == ClusterSettings(
        "existing", "mine", "1.34.4", "node:v1", "500m", "64Mi", "/home/me/kube.yaml", "here", True
    )
    assert loaded.platform == PlatformSettings("1.14.1", "0.7.0", "published", False, False, False)
    assert loaded.scenarios == ScenarioSettings(("no-gang", "gang"), 9, 7, 6, 3)


@pytest.mark.parametrize("key", ["installVolcano", "installLws"])
def test_each_install_has_its_own_toggle(key: str, configure_stack: ConfigureStack) -> None:
    configure_stack("existing", kubeContext="here", **{key: False})
    platform = settings.load().platform
    assert platform.install_volcano is (key != "installVolcano")
    assert platform.install_lws is (key != "installLws")


def test_settings_cannot_be_changed(configure_stack: ConfigureStack) -> None:
    configure_stack()
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.load().stack = "other"  # type: ignore[misc]


def test_config_of_the_engine_arrives_by_environment(
    monkeypatch: pytest.MonkeyPatch, configure_stack: ConfigureStack
) -> None:
    configure_stack("all")
    config = dict(pulumi.runtime.config.CONFIG.get())
    pulumi.runtime.set_all_config({})
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(config | {"kubernetes:namespace": "x"}))
    assert settings.load().scenarios.names == ("gang", "constrained", "no-gang")

    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(config | {"lockstep:grups": "1"}))
    with pytest.raises(SettingsError, match="did you mean lockstep:groups"):
        settings.load()


def test_declared_keys_are_the_read_keys() -> None:
    assert list(declared()) == list(settings.READERS)


def test_every_declared_key_is_typed_and_described_and_has_a_default() -> None:
    for key, entry in declared().items():
        assert {"type", "default", "description"} <= entry.keys(), key
        assert entry["description"].endswith("."), key


def test_default_versions_are_the_pinned_ones() -> None:
    defaults = {key: entry["default"] for key, entry in declared().items()}
    assert defaults["kubernetesVersion"] == versions.KUBERNETES
    assert defaults["volcanoVersion"] == versions.VOLCANO
    assert defaults["lwsVersion"] == versions.LWS_DEFAULT


@pytest.mark.parametrize(
    ("image", "version"),
    [("", "1.34.11"), ("lockstep-node:v1.34.4-ab12", "1.34.4"), ("own/image:latest", None)],
)
def test_kind_has_the_kubernetes_version_of_its_image(
    image: str, version: str | None, configure_stack: ConfigureStack
) -> None:
    configure_stack("kind", kindNodeImage=image)
    assert settings.load().versions.get("kubernetes") == version


def test_bad_config_ends_the_program_with_its_lines_only(
    configure_stack: ConfigureStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", said.append)
    configure_stack("gang", groupSize=1)
    with pytest.raises(SystemExit) as ended:
        settings.load_or_exit()
    assert ended.value.code == settings.ALREADY_REPORTED
    assert len(said) == 1
    assert said[0].startswith("lockstep:groupSize is '1'")


def test_good_config_is_loaded(configure_stack: ConfigureStack) -> None:
    configure_stack("gang")
    assert settings.load_or_exit() == settings.load()
