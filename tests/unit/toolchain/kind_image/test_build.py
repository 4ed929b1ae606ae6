"""Refusals of a machine that cannot build the image, the image's name, and the command's output."""

import os
import sys
from pathlib import Path

import pytest

from lockstep import cli, versions
from lockstep.errors import LockstepError
from toolchain import cache
from toolchain.kind_image import build


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Linux machine with Docker and debootstrap, used by root."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("docker", "debootstrap"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.usefixtures("programs")
def test_machine_with_everything_is_accepted() -> None:
    build.check_machine()


@pytest.mark.parametrize(
    ("module", "name", "value", "error"),
    [
        (sys, "platform", "darwin", r"only be built on Linux; .* kind's public image"),
        (os, "geteuid", lambda: 1000, "needs root"),
    ],
)
@pytest.mark.usefixtures("programs")
def test_other_systems_and_users_are_refused(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, value: object, error: str
) -> None:
    monkeypatch.setattr(module, name, value)
    with pytest.raises(LockstepError, match=error):
        build.check_machine()


@pytest.mark.parametrize("name", ["docker", "debootstrap"])
def test_missing_program_is_named(programs: Path, name: str) -> None:
    (programs / name).unlink()
    with pytest.raises(LockstepError, match=rf"{name} is needed .* not installed; install it"):
        build.check_machine()


def test_engine_that_does_not_run_is_reported(programs: Path) -> None:
    (programs / "docker").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(LockstepError, match="does not answer; start it"):
        build.check_machine()


def test_name_changes_with_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    before = build.image_name()
    assert before == build.image_name()
    assert before.startswith(f"lockstep/kind-node:v{versions.KUBERNETES}-")
    monkeypatch.setattr(cache, "key", lambda group: f"{group.name}-other")
    assert build.image_name() != before


def test_program_with_shared_libraries_is_refused(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (programs / "kubectl").write_bytes(b"\x7fELF /lib64/ld-linux-x86-64.so.2")
    monkeypatch.setattr("toolchain.tool", lambda name: programs / name)
    with pytest.raises(LockstepError, match="needs shared libraries"):
        build.program("kubectl")


def test_command_prints_the_config_that_uses_the_image(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "build", lambda: "lockstep/kind-node:v1")
    assert cli.main(["kind-image"]) == 0
    said = capsys.readouterr().out
    assert "pulumi config set lockstep:kindNodeImage lockstep/kind-node:v1\n" in said
