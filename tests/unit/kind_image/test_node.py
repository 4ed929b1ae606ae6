"""The node image in Docker, whose place a script takes that notes what it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image import node
from toolchain.kind_image.console import Console


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Console:
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "docker"
    script.write_text(
        f'#!/bin/sh\necho "$1" >>"{tmp_path}/calls"\n'
        f'test "$1" = exec && cat >"{tmp_path}/imported"\n'
        f'test ! -e "{tmp_path}/fail-$1"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    (tmp_path / "log").touch()
    (tmp_path / "images.tar").write_text("images")
    return Console(lambda: None, tmp_path / "log")


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def test_images_are_imported_and_committed(console: Console, tmp_path: Path) -> None:
    node.preload(console, "base", tmp_path / "images.tar", "node:1")
    assert calls(tmp_path) == ["run", "exec", "commit", "rm"]
    assert (tmp_path / "imported").read_text() == "images"
    said = console.log.read_text()
    for alias in node.aliases():
        assert " ".join(alias) in said


def test_failed_import_leaves_no_container(console: Console, tmp_path: Path) -> None:
    (tmp_path / "fail-exec").touch()
    with pytest.raises(LockstepError, match="importing container images failed"):
        node.preload(console, "base", tmp_path / "images.tar", "node:1")
    assert calls(tmp_path) == ["run", "exec", "rm"]


def test_root_is_loaded_and_its_archive_removed(console: Console, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    assert node.load_root(console, tmp_path / "root", tmp_path) == "lockstep/kind-node:building"
    assert calls(tmp_path) == ["image", "load"]  # what a failed run left goes first
    assert not (tmp_path / "root.tar").exists()
