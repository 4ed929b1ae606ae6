"""Find and end all processes of a cluster, also those that a killed command left running."""

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from lockstep.errors import LockstepError

# The variable in the environment of every process of a cluster, including the commands that Pulumi
# runs for it. Child processes inherit it, and it does not depend on a pid file.
MARK = "LOCKSTEP_CLUSTER_DIR"
PATIENCE = 10.0


def marked_environment(folder: Path) -> dict[str, str]:
    """Return the environment for processes of the cluster in `folder`."""
    return {**os.environ, MARK: str(folder)}


def of_cluster(folder: Path) -> list[psutil.Process]:
    """Return the processes of the cluster in `folder`, without this process and its ancestors."""
    found = []
    folder = folder.resolve()
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK)
            # A shell may have written the path: relative, or through a symlink.
            if mark and process.pid not in own and Path(process.cwd(), mark).resolve() == folder:
                found.append(process)
        except psutil.Error:  # the process has ended, or belongs to another user
            continue
    return found


def named(folder: Path, name: str) -> list[psutil.Process]:
    """Return the processes of the cluster whose name starts with `name`."""
    found = []
    for process in of_cluster(folder):
        with contextlib.suppress(psutil.Error):  # the process has ended
            if process.name().startswith(name):
                found.append(process)
    return found


def end_all(folder: Path) -> int:
    """Kill every process of the cluster, wait until all have ended, and return their number.

    Repeated until none is found, as a process may start another one before it is killed.
    """
    ended = 0
    while processes := of_cluster(folder):
        end(processes, folder.name)
        ended += len(processes)
    return ended


def end(processes: Sequence[psutil.Process], owner: str) -> None:
    """Kill processes and wait until they have ended; polling, as they are no child processes."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deadline = time.monotonic() + PATIENCE
    while alive := [process for process in processes if is_alive(process)]:
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in alive)
            raise LockstepError(f"processes {pids} of {owner} do not end; kill them by hand")
        time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    """Tell whether a process runs; a zombie does not, and its parent may reap it late.

    The main thread of a killed process is a zombie while other threads still end, and until they
    have ended, the process has its ports.
    """
    try:
        is_zombie = process.status() == psutil.STATUS_ZOMBIE
        return bool(process.is_running() and (not is_zombie or process.num_threads() > 1))
    except psutil.NoSuchProcess:
        return False
