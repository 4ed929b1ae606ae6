"""Settings: what each stack gives, and that nothing is taken that could not work."""

import json
from typing import Any

import msgspec
import pulumi
import pytest
import yaml

import settings
from lockstep import versions
from settings import SettingsError
from tests.unit.conftest import PROJECT_DIR, ConfigureStack


def declared() -> dict[str, Any]:
    config = yaml.safe_load((PROJECT_DIR / "Pulumi.yaml").read_text())["config"]
    assert isinstance(config, dict)
    return config


def test_every_value_arrives_in_its_own_field(configure_stack: ConfigureStack) -> None:
    given: dict[str, Any] = {
        "clusterProvider": "existing",
        "clusterName": "mine",
        "workersPerScenario": 9,
        "workerCpu": "500m",
        "workerMemory": "64Mi",
        "kubeconfig": "/home/me/kube.yaml",
        "kubeContext": "here",
        "exportKubeconfig": True,
        "kindNodeImage": "node:v1",
        "volcanoVersion": "1.14.1",
        "lwsVersion": "0.7.0",
        "kubernetesVersion": versions.KUBERNETES,
        "charts": "published",
        "installVolcano": False,
        "installLws": False,
        "gangScheduling": False,
        "scenarios": ["no-gang", "gang"],
        "taintedWorkers": 7,
        "groupSize": 6,
        "groups": 3,
    }
    configure_stack("gang", **given)
    assert msgspec.to_builtins(settings.load()) == {**given, "scenarios": ("no-gang", "gang")}


def test_config_of_the_engine_arrives_by_environment(
    monkeypatch: pytest.MonkeyPatch, configure_stack: ConfigureStack
) -> None:
    configure_stack("all")
    config = dict(pulumi.runtime.config.CONFIG.get())
    pulumi.runtime.set_all_config({})
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(config | {"kubernetes:namespace": "x"}))
    assert settings.load().scenarios == ("gang", "constrained", "no-gang")

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
    assert defaults["volcanoVersion"] == versions.VOLCANO_DEFAULT
    assert defaults["lwsVersion"] == versions.LWS_DEFAULT


@pytest.mark.parametrize(
    ("image", "version"),
    [("", "1.35.8"), ("lockstep-node:v1.34.4-ab12", "1.34.4"), ("own/image:latest", None)],
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


def test_versions_out_of_support_are_warned_of_in_one_line(
    configure_stack: ConfigureStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str | None, ...]] = []

    def out_of_support(*chosen: str | None) -> list[str]:
        asked.append(chosen)
        return [f"{part} is old" for part in chosen if part in ("1.14.1", "0.7.0")]

    warned: list[str] = []
    monkeypatch.setattr(versions, "out_of_support", out_of_support)
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    configure_stack("gang", volcanoVersion="1.14.1", lwsVersion="0.7.0")
    settings.warn_of_old_versions(settings.load())
    assert asked == [(versions.KUBERNETES, "1.14.1", "0.7.0")]
    assert warned == ["1.14.1 is old; 0.7.0 is old"]
    configure_stack("existing", kubeContext="mine", installVolcano=False, installLws=False)
    settings.warn_of_old_versions(settings.load())
    assert asked[1:] == [(None, None, None)]
    assert len(warned) == 1
