"""The Docker engine: found, started, refused, stopped. `docker` and `dockerd` are small scripts."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image import capabilities, engine

Script = Callable[[str, str], Path]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """A function that puts a program on an otherwise poor PATH."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "cache"))

    def write(name: str, body: str) -> Path:
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
        return programs / name

    return write


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    (tmp_path / "kind-runtime").write_text("runtime")
    return tmp_path / "kind-runtime"


@pytest.fixture
def withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "withheld", lambda: True)


@pytest.fixture
def ended() -> Iterator[None]:
    """Whatever a test started is stopped."""
    yield
    engine.stop()


# Answers once the "engine" is up.
DOCKER = 'test -e "$LOCKSTEP_CACHE/engine/dockerd.pid" && echo {answer}'


def fake_dockerd(script: Script, tmp_path: Path) -> None:
    """A process of that name, which a script does not have, that notes how it was started."""
    sleeper = tmp_path / "real" / "dockerd"
    sleeper.parent.mkdir()
    shutil.copy(shutil.which("sleep") or "/bin/sleep", sleeper)
    script("dockerd", f'echo "$@" >"{tmp_path}/args"; echo $$ >"$2"; exec "{sleeper}" 60')


def test_no_client_means_no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not engine.is_running()
    assert not engine.is_installed()


def test_engine_that_does_not_answer_does_not_run(script: Script) -> None:
    script("docker", "echo cannot connect >&2; exit 1")
    assert not engine.is_running()


@pytest.mark.usefixtures("withheld", "ended")
def test_engine_is_started_with_our_runtime_where_a_capability_is_withheld(
    script: Script, runtime: Path, tmp_path: Path
) -> None:
    script("docker", DOCKER.format(answer="lockstep"))
    fake_dockerd(script, tmp_path)
    engine.start(runtime)
    arguments = (tmp_path / "args").read_text()
    own = tmp_path / "cache" / "engine" / "kind-runtime"
    assert f"--add-runtime lockstep={own} --default-runtime lockstep" in arguments
    assert own.read_text() == "runtime"
    engine.check_privileged()
    assert engine.ours() is not None


@pytest.mark.usefixtures("withheld", "ended")
def test_engine_that_we_started_is_stopped_and_no_other(
    script: Script, runtime: Path, tmp_path: Path
) -> None:
    script("docker", DOCKER.format(answer="x"))
    assert not engine.stop()
    fake_dockerd(script, tmp_path)
    engine.start(runtime)
    pid = engine.ours()
    assert pid is not None
    assert engine.stop()
    assert engine.ours() is None
    assert not engine.stop()


def test_recycled_process_id_is_not_taken_for_our_engine(script: Script) -> None:
    script("docker", "exit 1")
    engine.folder().mkdir(parents=True)
    (engine.folder() / "dockerd.pid").write_text(str(os.getpid()))
    assert engine.ours() is None
    assert not engine.stop()


@pytest.mark.usefixtures("withheld")
def test_engine_that_ends_at_once_is_reported_with_its_last_words(
    script: Script, runtime: Path
) -> None:
    script("docker", "exit 1")
    script("dockerd", "echo failed to mount overlay >&2; exit 1")
    began = time.monotonic()
    with pytest.raises(LockstepError, match="dockerd did not start: failed to mount overlay"):
        engine.start(runtime)
    assert time.monotonic() - began < engine.START_WITHIN / 2


@pytest.mark.usefixtures("withheld")
def test_engine_without_our_runtime_is_refused_where_it_is_needed(script: Script) -> None:
    script("docker", "echo runc")
    with pytest.raises(LockstepError, match="withholds CAP_SYS_RESOURCE"):
        engine.check_privileged()


def test_any_engine_will_do_on_an_ordinary_machine(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "withheld", lambda: False)
    script("docker", "echo runc")
    engine.check_privileged()
