"""What a killed Pulumi leaves running: its plugins, the program, and the commands they run.

Pulumi starts them in process groups of their own, so that they outlive it, and they look only every
five minutes whether it is still there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import psutil

from lockstep import processes
from lockstep.local import health

_PLUGINS = ("pulumi-language-", "pulumi-resource-")
_ADDRESS = re.compile(r"127\.0\.0\.1:(?P<port>\d+)")


def end(project: Path) -> int:
    """End what killed updates of a project have left, and say how many processes that were."""
    found = {
        process.pid: process for stray in _strays(project) for process in _with_children(stray)
    }
    processes.end(list(found.values()), "a killed Pulumi")
    return len(found)


def _strays(project: Path) -> list[psutil.Process]:
    """Plugins that were started for the project, by a Pulumi that is gone."""
    found = []
    for process in psutil.process_iter():
        try:
            port = _engine_port(process.cmdline())
            if port and Path(process.cwd()) == project and not health.listens(port):
                found.append(process)
        except (psutil.Error, OSError):  # gone meanwhile, or another user's
            continue
    return found


def _engine_port(command: list[str]) -> int | None:
    """The port of the engine that a plugin was started by; None for any other process."""
    if not command or not os.path.basename(command[0]).startswith(_PLUGINS):
        return None
    addresses = [match for word in command[1:] if (match := _ADDRESS.fullmatch(word))]
    return int(addresses[-1]["port"]) if addresses else None


def _with_children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
