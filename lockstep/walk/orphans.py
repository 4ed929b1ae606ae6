"""What a killed Pulumi leaves running: its plugins, the program, and the commands that they run.

Pulumi starts them in process groups of their own. They do not end with it, some never do.
"""

import contextlib
import re
from pathlib import Path

import psutil

from lockstep import processes
from lockstep.local import ports

_PLUGINS = ("pulumi-language-", "pulumi-resource-")
_ENGINE = re.compile(r"127\.0\.0\.1:(\d+)")


def end(project: Path) -> int:
    """End what killed updates of a project left, and return the number of processes."""
    found = {
        process.pid: process for plugin in _orphans(project) for process in _with_children(plugin)
    }
    processes.end(list(found.values()), "a killed Pulumi")
    return len(found)


def _orphans(project: Path) -> list[psutil.Process]:
    """Return the plugins that run for the project, but whose engine does not."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):  # the process has ended, or is another user's
            port = _engine_port(process.cmdline())
            if port and Path(process.cwd()) == project and not ports.listens(port):
                found.append(process)
    return found


def _engine_port(command: list[str]) -> int | None:
    """Return the port of the engine that a plugin was started by; None for another process."""
    if not any(Path(word).name.startswith(_PLUGINS) for word in command[:2]):
        return None
    addresses = [match for word in command if (match := _ENGINE.fullmatch(word))]
    return int(addresses[-1][1]) if addresses else None


def _with_children(process: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [process, *process.children(recursive=True)]
    return []
