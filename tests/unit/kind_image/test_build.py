"""Building as a whole: what is checked first, and what is not done twice."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

import toolchain
from lockstep import cli
from lockstep.errors import LockstepError
from toolchain.kind_image import build, engine, node, packages, recipe, root, store
from toolchain.progress import Progress

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every step replaced by a note that it was taken; Docker runs and knows no image."""
    taken: list[str] = []
    images: set[str] = set()

    def note(name: str) -> object:
        return lambda *_, **__: taken.append(name)

    monkeypatch.setattr(engine, "is_running", lambda: True)
    monkeypatch.setattr(engine, "check_privileged", note("privileged"))
    monkeypatch.setattr(packages, "install", note("install"))
    monkeypatch.setattr(store, "has", lambda name: name in images)
    monkeypatch.setattr(store, "remove", lambda _: True)
    monkeypatch.setattr(toolchain, "ensure", note("toolchain"))
    monkeypatch.setattr(root, "bootstrap", note("debian"))
    monkeypatch.setattr(root, "furnish", note("node"))
    monkeypatch.setattr(build._Build, "_pack", note("images"))
    monkeypatch.setattr(node, "load_root", note("load"))

    def preload(*arguments: object) -> None:
        taken.append("preload")
        images.add(str(arguments[-1]))

    monkeypatch.setattr(node, "preload", preload)
    monkeypatch.setattr(build, "_megabytes", lambda _: 900)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/sbin/debootstrap")
    return taken


def quiet() -> Progress:
    return Progress(io.StringIO())


def test_image_is_built_in_order_and_once(steps: list[str]) -> None:
    assert build.build(quiet()) == recipe.image_name()
    assert steps == ["toolchain", "privileged", "debian", "node", "images", "load", "preload"]
    assert not build.work_dir().exists()
    steps.clear()
    assert build.build(quiet()) == recipe.image_name()
    assert steps == []


def test_each_step_is_counted(steps: list[str]) -> None:
    lines = io.StringIO()
    build.build(Progress(lines))
    assert steps
    for number in range(1, build.STEPS + 1):
        assert f"[{number}/{build.STEPS}]" in lines.getvalue()


def test_failed_step_keeps_what_was_made(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise LockstepError("packing failed")

    monkeypatch.setattr(build._Build, "_pack", fail)
    with pytest.raises(LockstepError, match="packing failed"):
        build.build(quiet())
    assert "node" in steps
    assert build.work_dir().exists()


def test_missing_packages_are_installed(steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    build.build(quiet())
    assert "install" in steps


def test_ordinary_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LockstepError, match="needs root"):
        build.check_machine()


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(LockstepError, match="public image"):
        build.check_machine()


def test_small_disk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, 10**9))
    with pytest.raises(LockstepError, match=r"needs 5 GB .* 1\.0 GB are free"):
        build.check_machine()


def test_command_prints_the_image(steps: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kind-image"]) == 0
    assert steps
    assert capsys.readouterr().out == f"{recipe.image_name()}\n"


def test_command_cleans_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (build.work_dir() / "root-x").mkdir(parents=True)
    monkeypatch.setattr(
        store, "all_built", lambda: ["lockstep/kind-node:a", "lockstep/kind-node:b"]
    )
    monkeypatch.setattr(store, "remove", lambda name: name.endswith("a"))
    assert cli.main(["kind-image", "--clean"]) == 0
    said = capsys.readouterr().out
    assert "removed lockstep/kind-node:a" in said
    assert "lockstep/kind-node:b is in use" in said
    assert not build.work_dir().exists()


@pytest.mark.parametrize(("ran", "said"), [(True, "stopped Docker"), (False, "no Docker of ours")])
def test_command_stops_our_engine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ran: bool, said: str
) -> None:
    monkeypatch.setattr(engine, "stop", lambda: ran)
    assert cli.main(["kind-image", "--stop"]) == 0
    assert said in capsys.readouterr().out
