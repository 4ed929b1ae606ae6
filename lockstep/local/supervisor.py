"""Run an operator's processes under supervisord, which starts a crashed one again."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lockstep import processes
from lockstep.errors import LockstepError

STOP_TIMEOUT = 15.0
LONGEST_ADDRESS = 95  # of a socket, less what supervisord adds for a moment


@dataclass(frozen=True)
class Program:
    """One supervised process."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)


def configuration(folder: Path, programs: Sequence[Program]) -> str:
    """The supervisord configuration; a percent sign is an expansion there and is doubled."""
    sections = [
        "[supervisord]",
        f"logfile = {_quoted(folder / 'supervisord.log')}",
        f"pidfile = {_quoted(folder / 'supervisord.pid')}",
        f"childlogdir = {_quoted(folder)}",
        "logfile_maxbytes = 1MB",
        "logfile_backups = 1",
        "umask = 077",
    ]
    if _is_wakeable(folder):
        sections += ["", "[unix_http_server]", f"file = {_quoted(_socket(folder))}"]
    for program in programs:
        variables = ",".join(f'{key}="{_quoted(v)}"' for key, v in program.environment.items())
        sections += [
            "",
            f"[program:{program.name}]",
            f"command = {' '.join(_word(word) for word in program.command)}",
            f"environment = {variables}",
            "autorestart = true",
            "startsecs = 1",
            "startretries = 1000000",
            "stopwaitsecs = 3",
            "redirect_stderr = true",
            f"stdout_logfile = {_quoted(folder / (program.name + '.log'))}",
            "stdout_logfile_maxbytes = 20MB",
            "stdout_logfile_backups = 1",
        ]
    return "\n".join(sections) + "\n"


def run(folder: Path, cluster_folder: Path, programs: Sequence[Program]) -> None:
    """Start the programs, or restart them on a changed configuration."""
    (folder / "supervisord.conf").write_text(configuration(folder, programs))
    supervisor = _running(folder)
    if supervisor is None:
        _launch(folder, cluster_folder)
        return
    children = supervisor.children()
    supervisor.send_signal(signal.SIGHUP)  # stops all, reads the configuration, starts all
    deadline = time.monotonic() + STOP_TIMEOUT
    while children or not supervisor.children():
        if time.monotonic() > deadline:
            raise LockstepError(f"{folder.name}: the old processes do not end; see {folder}")
        _wake(folder)
        _, children = psutil.wait_procs(children, timeout=0.05)


def is_running(folder: Path) -> bool:
    """Whether a supervisor of this folder lives."""
    return _running(folder) is not None


def _launch(folder: Path, cluster_folder: Path) -> None:
    started = subprocess.run(
        [sys.executable, "-m", "supervisor.supervisord", "-c", str(folder / "supervisord.conf")],
        env=processes.marked_environment(cluster_folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=STOP_TIMEOUT,
    )
    if started.returncode != 0:
        reason = (started.stderr or started.stdout).strip().splitlines()[-1:]
        raise LockstepError(f"supervisord does not start: {' '.join(reason)}")
    deadline = time.monotonic() + STOP_TIMEOUT
    # The daemon writes its pid file right after the parent has returned.
    while _running(folder) is None:
        if time.monotonic() > deadline:
            raise LockstepError(f"supervisord does not start; see {folder / 'supervisord.log'}")
        time.sleep(0.02)
    _wake(folder)


def _wake(folder: Path) -> None:
    """Have supervisord look after its processes at once: by itself it does so once a second."""
    with socket.socket(socket.AF_UNIX) as knock, contextlib.suppress(OSError):
        knock.connect(str(_socket(folder)))


def _socket(folder: Path) -> Path:
    return folder / "supervisord.sock"


def _is_wakeable(folder: Path) -> bool:
    return len(os.fsencode(_socket(folder))) < LONGEST_ADDRESS


def _running(folder: Path) -> psutil.Process | None:
    try:
        process = psutil.Process(int((folder / "supervisord.pid").read_text()))
        return process if "supervisor.supervisord" in process.cmdline() else None
    except (OSError, ValueError, psutil.Error):
        return None


def _quoted(value: object) -> str:
    return str(value).replace("%", "%%")


def _word(word: str) -> str:
    """One word of a command line, for supervisord's shell-like splitting."""
    return '"' + _quoted(word).replace("\\", "\\\\").replace('"', '\\"') + '"'
