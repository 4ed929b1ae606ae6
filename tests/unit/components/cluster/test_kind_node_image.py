"""Which node image a kind cluster is made from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from components import cluster as clusters
from lockstep import versions
from tests.unit.components.graph import deploy
from toolchain import kind_image


def images_of_nodes() -> set[str]:
    settings: Any = SimpleNamespace(
        cluster=SimpleNamespace(provider="kind", name="lockstep-kind"),
        scenarios=SimpleNamespace(workers=3, names=("gang",)),
    )

    def build() -> dict[str, Any]:
        return {"name": clusters.create(settings).cluster_name}

    config = deploy(build)["cluster-containers"].environment["LOCKSTEP_KIND_CONFIG"]
    return {node["image"] for node in yaml.safe_load(config)["nodes"]}


def test_image_that_was_built_here_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_image, "find", lambda: "lockstep/kind-node:v1")
    assert images_of_nodes() == {"lockstep/kind-node:v1"}


def test_public_image_serves_where_none_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_image, "find", lambda: None)
    assert images_of_nodes() == {versions.KIND_NODE_IMAGE}
