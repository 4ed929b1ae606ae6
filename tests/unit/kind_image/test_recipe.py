"""The image's name says what the image was made from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lockstep import versions
from toolchain import cache
from toolchain.kind_image import capabilities, recipe


@pytest.fixture(autouse=True)
def _no_memory() -> Iterator[None]:
    """Each test computes the name anew."""
    recipe.image_name.cache_clear()
    yield
    recipe.image_name.cache_clear()


def name() -> str:
    recipe.image_name.cache_clear()
    return recipe.image_name()


def test_name_has_the_kubernetes_version_and_is_stable() -> None:
    assert name().startswith(f"lockstep/kind-node:v{versions.KUBERNETES}-")
    assert name() == name()


def test_name_changes_with_debians_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    before = name()
    monkeypatch.setattr(recipe, "DEBIAN_PACKAGES", (*recipe.DEBIAN_PACKAGES, "vim"))
    assert name() != before


def test_root_of_other_packages_has_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.root_name()
    monkeypatch.setattr(recipe, "DEBIAN_PACKAGES", ("vim",))
    assert recipe.root_name() != before


def test_name_changes_with_the_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    before = name()
    monkeypatch.setattr(versions, "WORKLOAD_IMAGE", "registry.k8s.io/pause:4@sha256:0")
    assert name() != before


def test_name_changes_with_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    before = name()
    monkeypatch.setattr(cache, "key", lambda group: f"{group.name}-other")
    assert name() != before


def test_name_changes_with_what_the_machine_withholds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "withheld", lambda: False)
    before = name()
    monkeypatch.setattr(capabilities, "withheld", lambda: True)
    assert name() != before


def test_every_supported_lws_is_inside() -> None:
    assert {f"lws-{version}" for version in versions.LWS_SUPPORTED} <= set(recipe.groups())


def test_mirror_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_DEBIAN_MIRROR", raising=False)
    assert recipe.mirror() == ()
    monkeypatch.setenv("LOCKSTEP_DEBIAN_MIRROR", "http://mirror.example/debian")
    assert recipe.mirror() == ("http://mirror.example/debian",)
