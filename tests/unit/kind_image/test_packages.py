"""Installing Debian packages, by a script in place of apt-get."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image import packages
from toolchain.kind_image.console import Console


@pytest.fixture
def console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "log").touch()
    return Console(lambda: None, tmp_path / "log")


def apt_get(folder: Path, body: str) -> None:
    script = folder / "apt-get"
    script.write_text(f'#!/bin/sh\necho "$1" >>"{folder}/calls"\n{body}\n')
    script.chmod(0o755)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().split()


def test_package_is_installed_without_questions(console: Console, tmp_path: Path) -> None:
    apt_get(tmp_path, 'test "$DEBIAN_FRONTEND" = noninteractive && test "$2" = --yes')
    packages.install(console, "debootstrap")
    assert calls(tmp_path) == ["install"]


def test_old_package_lists_are_updated(console: Console, tmp_path: Path) -> None:
    apt_get(tmp_path, f'test "$1" = update && touch "{tmp_path}/new"; test -e "{tmp_path}/new"')
    packages.install(console, "debootstrap")
    assert calls(tmp_path) == ["install", "update", "install"]


def test_silent_mirror_is_told(console: Console, tmp_path: Path) -> None:
    apt_get(tmp_path, "echo \"Temporary failure resolving 'mirror.example'\"; exit 100")
    with pytest.raises(LockstepError, match="does not answer"):
        packages.install(console, "debootstrap")


def test_machine_without_apt_is_told_what_to_install(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LockstepError, match=r"no apt-get here to install docker\.io"):
        packages.install(console, "docker.io")
