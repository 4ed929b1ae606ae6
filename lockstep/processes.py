"""Find and end the processes of one cluster, however they were left behind."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from lockstep.errors import LockstepError

# Every process of a cluster carries this variable, the commands of its stack included: it is
# inherited by whatever kwokctl and the supervisor start, survives a lost pid file, and no process
# of somebody else has it.
MARK = "LOCKSTEP_CLUSTER_DIR"
PATIENCE = 10.0


def marked_environment(folder: Path) -> dict[str, str]:
    """The environment in which processes of the cluster in `folder` are started.

    They do most of their work in their first seconds: less garbage collection, quicker start.
    """
    return {"GOGC": "400", **os.environ, MARK: str(folder)}


def of_cluster(folder: Path) -> list[psutil.Process]:
    """All living processes of the cluster in `folder`, but for this one and those above it."""
    found = []
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter():
        try:
            if process.pid not in own and process.environ().get(MARK) == str(folder):
                found.append(process)
        except psutil.Error:  # gone meanwhile, or another user's
            continue
    return found


def named(folder: Path, name: str) -> list[psutil.Process]:
    """The living processes of the cluster whose name starts so."""
    found = []
    for process in of_cluster(folder):
        with contextlib.suppress(psutil.Error):  # gone meanwhile
            if process.name().startswith(name):
                found.append(process)
    return found


def end_all(folder: Path) -> int:
    """End every process of the cluster and wait until they are gone; say how many there were.

    They are killed outright: the data goes with them, and a supervisor asked politely would spend
    seconds on stopping its children. Repeated, as a supervisor may start one more on its way out.
    """
    ended = 0
    while processes := of_cluster(folder):
        end(processes, folder.name)
        ended += len(processes)
    return ended


def end(processes: Sequence[psutil.Process], whose: str) -> None:
    """Kill processes and wait until they are gone.

    They are not our children, so there is no other way than to look.
    """
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deadline = time.monotonic() + PATIENCE
    while alive := [process for process in processes if _is_alive(process)]:
        if time.monotonic() > deadline:
            pids = ", ".join(str(process.pid) for process in alive)
            raise LockstepError(f"processes {pids} of {whose} do not end; kill them by hand")
        time.sleep(0.01)


def _is_alive(process: psutil.Process) -> bool:
    """A zombie is not: it holds nothing, and its parent may take its time to notice."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
