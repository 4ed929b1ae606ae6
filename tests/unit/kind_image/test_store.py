"""The image in Docker's store, seen through a small script in place of docker."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain.kind_image import recipe, store


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "docker"


def answer(docker: Path, body: str) -> None:
    docker.write_text(f"#!/bin/sh\n{body}\n")
    docker.chmod(0o755)


def test_image_is_found_by_its_name(docker: Path) -> None:
    answer(docker, f'test "$*" = "image inspect {recipe.image_name()}"')
    assert store.find() == recipe.image_name()


def test_image_of_other_sources_is_not_taken(docker: Path) -> None:
    answer(docker, 'test "$3" = lockstep/kind-node:v0')
    assert store.find() is None


def test_no_docker_means_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert store.find() is None


def test_all_builds_are_listed(docker: Path) -> None:
    answer(docker, "echo lockstep/kind-node:a; echo lockstep/kind-node:b")
    assert store.all_built() == ["lockstep/kind-node:a", "lockstep/kind-node:b"]
    answer(docker, "exit 1")
    assert store.all_built() == []


def test_image_in_use_is_kept(docker: Path) -> None:
    answer(docker, "exit 1")
    assert not store.remove("lockstep/kind-node:a")


def test_engine_that_hangs_has_no_image(docker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "ANSWER_WITHIN", 0.1)
    answer(docker, "exec sleep 5")
    assert store.find() is None
