"""Plugins of a Pulumi that was killed: found by their engine, which does not answer any more."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep.local import strays

# A plugin that runs a command, as the one for commands does.
PLUGIN = "import subprocess; subprocess.run(['sleep', '60'])"


@pytest.fixture
def dead() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def alive() -> Iterator[int]:
    """The port of an engine."""
    with socket.socket() as engine:
        engine.bind(("127.0.0.1", 0))
        engine.listen()
        yield int(engine.getsockname()[1])


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Whatever a test starts, ended after it."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        for child in psutil.Process(process.pid).children():
            child.kill()
        process.kill()
        process.wait()


def plugin(
    started: list[subprocess.Popen[bytes]],
    folder: Path,
    port: int,
    name: str = "pulumi-resource-command",
) -> psutil.Process:
    """Start something that looks like a plugin, and wait for its command."""
    words = [f"/plugins/{name}", "-c", PLUGIN, f"127.0.0.1:{port}"]
    started.append(subprocess.Popen(words, executable=sys.executable, cwd=folder))
    process = psutil.Process(started[-1].pid)
    deadline = time.monotonic() + 10
    while not process.children():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return process


@pytest.mark.parametrize("name", ["pulumi-resource-command", "pulumi-language-python"])
def test_a_stray_is_ended_with_its_command(
    tmp_path: Path, started: list[subprocess.Popen[bytes]], dead: int, name: str
) -> None:
    process = plugin(started, tmp_path, dead, name)
    (command,) = process.children()
    assert strays.end(tmp_path) == 2
    assert process.status() == psutil.STATUS_ZOMBIE
    assert not command.is_running() or command.status() == psutil.STATUS_ZOMBIE
    assert strays.end(tmp_path) == 0


def test_a_plugin_at_work_is_left_alone(
    tmp_path: Path, started: list[subprocess.Popen[bytes]], alive: int
) -> None:
    plugin(started, tmp_path, alive)
    assert strays.end(tmp_path) == 0


def test_a_stray_of_another_project_is_left_alone(
    tmp_path: Path, started: list[subprocess.Popen[bytes]], dead: int
) -> None:
    (tmp_path / "other").mkdir()
    plugin(started, tmp_path / "other", dead)
    assert strays.end(tmp_path) == 0


def test_another_program_is_left_alone(
    tmp_path: Path, started: list[subprocess.Popen[bytes]], dead: int
) -> None:
    plugin(started, tmp_path, dead, name="somebody-else")
    assert strays.end(tmp_path) == 0
