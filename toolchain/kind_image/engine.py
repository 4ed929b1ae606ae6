"""The Docker engine: the one that runs, or else Debian's, installed and started here."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from lockstep import paths
from lockstep.errors import LockstepError
from toolchain.kind_image import capabilities

START_WITHIN = 60
STOP_WITHIN = 30
RUNTIME = "lockstep"
DETACHED = 'log=$1; shift; "$@" >"$log" 2>&1 & echo $!'

PRIVILEGED_REMEDY = (
    "this machine withholds CAP_SYS_RESOURCE and Docker runs without our runtime: stop Docker and "
    "run this again, or add the runtime {runtime} to /etc/docker/daemon.json as its default-runtime"
)


def folder() -> Path:
    """What belongs to an engine that we started: its log, its process id, its runtime."""
    return paths.cache_dir() / "engine"


def is_running() -> bool:
    """Whether a Docker engine answers."""
    if shutil.which("docker") is None:
        return False
    return _docker("version", "--format", "{{.Server.Version}}").returncode == 0


def is_installed() -> bool:
    """Whether there is an engine that could be started."""
    return shutil.which("docker") is not None and shutil.which("dockerd") is not None


def start(runtime: Path, tick: Callable[[], None] = lambda: None) -> None:
    """Start the engine and wait until it answers; `runtime` is the one for restricted machines."""
    if capabilities.withheld():
        _start_by_hand(runtime, tick)
    elif Path("/run/systemd/system").is_dir():
        done = subprocess.run(["systemctl", "start", "docker"], capture_output=True, check=False)
        if done.returncode:
            raise LockstepError("systemctl start docker failed; see journalctl -u docker")
    else:
        _start_by_hand(None, tick)


def _start_by_hand(runtime: Path | None, tick: Callable[[], None]) -> None:
    """Start dockerd as a process of its own, with the runtime that this machine needs."""
    home = folder()
    home.mkdir(parents=True, exist_ok=True)
    command = ["dockerd", "--pidfile", str(home / "dockerd.pid")]
    if runtime is not None:
        # A copy: the engine outlives the toolchain's cache.
        own = home / runtime.name
        shutil.copy(runtime, own.with_suffix(".new"))
        own.with_suffix(".new").replace(own)
        command += ["--add-runtime", f"{RUNTIME}={own}", "--default-runtime", RUNTIME]
    # By way of a shell that ends at once: the engine is not our child and outlives us.
    started = subprocess.run(
        ["setsid", "sh", "-c", DETACHED, "sh", str(home / "dockerd.log"), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    deadline = time.monotonic() + START_WITHIN
    while not is_running():
        tick()
        if not _is_alive(int(started.stdout)) or time.monotonic() > deadline:
            raise LockstepError(
                f"dockerd did not start: {_last_line(home / 'dockerd.log')} "
                f"(the whole log: {home / 'dockerd.log'})"
            )
        time.sleep(0.2)


def check_privileged() -> None:
    """Raise when this engine cannot run kind's nodes on this machine."""
    if not capabilities.withheld():
        return
    answer = _docker("info", "--format", "{{.DefaultRuntime}}").stdout.strip()
    if answer != RUNTIME:
        raise LockstepError(PRIVILEGED_REMEDY.format(runtime=folder() / "kind-runtime"))


def ours() -> int | None:
    """The process id of the engine that we started, if it still runs."""
    try:
        pid = int((folder() / "dockerd.pid").read_text())
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ValueError):
        return None
    return pid if name == "dockerd" and _is_alive(pid) else None


def stop() -> bool:
    """Stop the engine that we started; False when there is none."""
    pid = ours()
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_WITHIN
    while ours() is not None:
        if time.monotonic() > deadline:
            raise LockstepError(f"dockerd, process {pid}, does not stop; containers may hang in it")
        time.sleep(0.1)
    with contextlib.suppress(OSError):
        (folder() / "dockerd.pid").unlink()
    return True


def _is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended stays listed until its parent asks for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _docker(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=False)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"
