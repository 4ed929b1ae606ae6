"""Tell the supervisor of a cluster's processes (`supervise`) what to run, and start it.

Light on purpose, as the Pulumi program asks whether a cluster's supervisor runs.

supervisord would do that as well, but it starts a program only a second after its own start, needs
three seconds for a restart, and nothing restarts supervisord itself.
"""

import contextlib
import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep import paths
from lockstep.local import supervise
from lockstep.wait import wait_until

STARTED_WITHIN = 20.0

# struct flock of Linux on 64 bits: type, whence, start, length, process id.
_FLOCK = "hhqqi4x"


@dataclass(frozen=True)
class Program:
    """A program that must keep running."""

    command: Sequence[str]


def holder(folder: Path) -> int | None:
    """The process id of the supervisor of a cluster's folder; None if none runs."""
    try:
        lock = os.open(folder / supervise.LOCK, os.O_RDWR)
    except OSError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, *_, pid = struct.unpack(_FLOCK, fcntl.fcntl(lock, fcntl.F_GETLK, asked))
    finally:
        os.close(lock)
    return None if kind == fcntl.F_UNLCK else int(pid)


def run(folder: Path, programs: Mapping[str, Program]) -> None:
    """Start programs, or restart them, and return when each has a new process."""
    (paths.programs_dir(folder)).mkdir(mode=0o700, exist_ok=True)
    digests = {name: _write(folder, name, program) for name, program in programs.items()}
    start(folder)
    # A supervisor that has just ended is not signalled: the next one reads the files anyway.
    with contextlib.suppress(ProcessLookupError):
        if pid := holder(folder):
            os.kill(pid, signal.SIGHUP)
    wait_until(
        f"a process of {', '.join(programs)}",
        lambda: all(running(folder, name) == digest for name, digest in digests.items()),
        STARTED_WITHIN,
        pause=0.01,
    )


def restart(folder: Path, name: str) -> None:
    """Restart a program with the command that it has."""
    known = json.loads((paths.programs_dir(folder) / f"{name}.json").read_text())
    run(folder, {name: Program(known["command"])})


def start(folder: Path) -> None:
    """Start the supervisor of a folder, unless it runs.

    It adopts the programs that run, and starts those that do not.
    """
    (folder / supervise.LOCK).touch(mode=0o600)
    if holder(folder):
        return
    log = os.open(folder / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(log, "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervise.__file__, str(folder)],
            env=_environment(folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            # Signals to this command, such as Ctrl-C, are not for the supervisor.
            start_new_session=True,
        )
    process.returncode = 0  # it is meant to outlive this command: no ResourceWarning
    wait_until("the supervisor", lambda: holder(folder), STARTED_WITHIN, pause=0.01)


def running(folder: Path, name: str) -> str | None:
    """The digest of the file that a running program was started by; None if it does not run."""
    try:
        return (paths.programs_dir(folder) / f"{name}.pid").read_text().split()[1]
    except (OSError, IndexError):
        return None


def is_alive(folder: Path, name: str) -> bool:
    """Whether the process of a program runs, with a supervisor or without."""
    try:
        pid = (paths.programs_dir(folder) / f"{name}.pid").read_text().split()[0]
        environment = Path("/proc", pid, "environ").read_bytes().split(b"\0")
    except (OSError, IndexError):
        return False
    return os.fsencode(f"{supervise.FOLDER_MARK}={folder}") in environment


def release(folder: Path) -> None:
    """Let the supervisor end everything instead of starting it again."""
    (folder / supervise.LOCK).unlink(missing_ok=True)


def _write(folder: Path, name: str, program: Program) -> str:
    content = {
        "command": list(program.command),
        "run": uuid.uuid4().hex,  # the supervisor restarts a program whose file has changed
    }
    text = json.dumps(content)
    fresh = paths.programs_dir(folder) / f".{name}.json"
    fresh.write_text(text)
    fresh.replace(fresh.with_name(f"{name}.json"))
    return supervise.digest(text)


def _environment(folder: Path) -> dict[str, str]:
    """The environment of a cluster's processes: nothing of the user's that could be secret.

    GOGC: the programs do most of their work in the first seconds, and start more quickly with less
    garbage collection.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {"GOGC": "400", **kept, supervise.FOLDER_MARK: str(folder)}
