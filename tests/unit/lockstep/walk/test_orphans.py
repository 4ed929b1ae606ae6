import socket
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep.walk import orphans


@pytest.fixture
def engine() -> Iterator[int]:
    """The port of an engine that runs."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def ended_engine() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def start(folder: Path, port: int, name: str = "pulumi-resource-command") -> psutil.Popen:
    """Start a plugin with a command that it runs."""
    script = folder / name
    script.write_text("#!/bin/sh\nsleep 60 &\nwait\n")
    script.chmod(0o755)
    plugin = psutil.Popen([str(script), f"127.0.0.1:{port}"], cwd=folder)
    deadline = time.monotonic() + 5
    while not plugin.children():
        assert time.monotonic() < deadline
    return plugin


def test_plugin_of_an_ended_engine_is_ended_with_its_commands(
    tmp_path: Path, ended_engine: int
) -> None:
    plugin = start(tmp_path, ended_engine)
    command = plugin.children()[0]
    assert orphans.end(tmp_path) == 2
    plugin.wait()
    assert not command.is_running() or command.status() == psutil.STATUS_ZOMBIE


def test_plugin_of_a_running_engine_or_of_another_project_and_other_programs_stay(
    tmp_path: Path, engine: int, ended_engine: int
) -> None:
    (tmp_path / "other").mkdir()
    started = [
        start(tmp_path, engine),
        start(tmp_path / "other", ended_engine),
        start(tmp_path, ended_engine, "server"),
    ]
    assert orphans.end(tmp_path) == 0
    for process in started:
        assert process.poll() is None
        for child in process.children():
            child.kill()
        process.wait()
