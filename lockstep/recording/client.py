"""The recorder as a process in the background, and how to start, follow and end it.

It serves its recording on a Unix socket beside the file: whoever connects gets all lines from the
first, then each new one as it comes, so that a judge wakes up when something happens and polls
nothing. The path of a socket may have about a hundred characters only; a longer one is addressed
from inside its folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.recording import model as recordings
from lockstep.recording.model import Recording

DEADLINE = 900.0
GRACE = 5.0
READY_FD = "LOCKSTEP_READY_FD"
END = b"end\n"
LONGEST_ADDRESS = 100


@dataclass(frozen=True)
class Subject:
    """What to record, and where."""

    path: Path
    scenario: str
    namespace: str
    pool: str
    kubeconfig: str
    context: str | None = None
    deadline: float = DEADLINE
    """Seconds after which the recorder ends by itself."""

    def arguments(self) -> list[str]:
        """The command line of the process; strays are found by the path in it."""
        return ["step", "record", "--serve", str(self.path)]

    def variables(self) -> dict[str, str]:
        """The environment variables from which the process learns what to record."""
        return {
            "LOCKSTEP_SCENARIO": self.scenario,
            "LOCKSTEP_NAMESPACE": self.namespace,
            "LOCKSTEP_POOL": self.pool,
            "LOCKSTEP_KUBECONFIG": self.kubeconfig,
            "LOCKSTEP_CONTEXT": self.context or "",
            "LOCKSTEP_DEADLINE": str(self.deadline),
        }


def socket_of(path: Path) -> Path:
    """Where the recorder of a recording listens."""
    return path.with_suffix(".sock")


def pid_file(path: Path) -> Path:
    """Where the recorder of a recording leaves its process id."""
    return path.with_suffix(".pid")


def log_file(path: Path) -> Path:
    """Where the recorder of a recording writes what goes wrong."""
    return path.with_suffix(".log")


def start(subject: Subject) -> dict[str, str]:
    """Start a recorder anew; return when its watches stand, with the name of this run."""
    stop(subject.path)
    subject.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    reader, writer = os.pipe()
    with os.fdopen(reader, encoding="utf-8") as ready:
        try:
            process = _spawn(subject, writer)
        finally:
            os.close(writer)
        answer = ready.read()  # until the child closes its end: by saying so, or by dying
    if not answer:
        process.wait()
        raise LockstepError(f"the recorder did not start: {_last_words(subject.path)}")
    # It outlives us, as it should: without this, Python would warn of a child still running.
    process.returncode = 0
    return dict(json.loads(answer))


def _spawn(subject: Subject, writer: int) -> subprocess.Popen[bytes]:
    """Start the process, detached from our terminal, session and output."""
    log = os.open(log_file(subject.path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    # Marked as the cluster's: whatever removes the cluster ends its recorders, too.
    environment = processes.marked_environment(subject.path.parent.parent)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "lockstep", *subject.arguments()],
            cwd=paths.project_dir(),
            env={**environment, **subject.variables(), READY_FD: str(writer)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(writer,),
            start_new_session=True,
        )
    finally:
        os.close(log)


def _last_words(path: Path) -> str:
    lines = log_file(path).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("lockstep: ") if lines else "it said nothing"


def stop(path: Path) -> None:
    """End the recorder of a recording, if one runs; its recording stays."""
    process = _process(path)
    if process is not None:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
            try:
                process.wait(GRACE)
            except psutil.TimeoutExpired:
                process.kill()
                process.wait(GRACE)
    for leftover in (pid_file(path), socket_of(path)):
        leftover.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """End the recorder and remove its recording, with folders that hold nothing else."""
    stop(path)
    for leftover in (path, log_file(path)):
        leftover.unlink(missing_ok=True)
    for folder in (path.parent, path.parent.parent):
        with contextlib.suppress(OSError):  # not empty: something else lives there
            folder.rmdir()


def _process(path: Path) -> psutil.Process | None:
    """Find the recorder by its pid file; the number alone may be another program's by now."""
    try:
        process = psutil.Process(int(pid_file(path).read_text()))
        return process if str(path) in process.cmdline() else None
    except (OSError, ValueError, psutil.Error):
        return None


class Live:
    """A recording that is still being made, followed through its recorder's socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""
        connection.settimeout(GRACE)
        header = b""
        while not header.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                raise LockstepError("the recorder ended before it told anything; run up again")
            header += byte
        self.recording = Recording(recordings.header_from_line(header))
        self.ended = False

    def now(self) -> float:
        """The recording's time."""
        return time.monotonic() - self.recording.header.clock

    def wait(self, until: float, gather: float = 0.0) -> None:
        """Return when something new was seen, or when the recording is complete until a time.

        What follows within `gather` seconds, or has piled up already, belongs to the same look.
        """
        before = self._entries()
        latest = until + GRACE  # of our own clock, should the recorder hang
        while self._entries() == before and self.recording.end < until and not self.ended:
            if not self._take(max(latest - self.now(), 0.001)) and self.now() >= latest:
                return
        enough = self.now() + gather
        while self._take(max(enough - self.now(), 0.0)):
            pass

    def _entries(self) -> int:
        return len(self.recording.observations) + len(self.recording.watch_log)

    def _take(self, timeout: float) -> bool:
        """Read once; say whether anything came."""
        if self.ended:
            return False
        self._socket.settimeout(timeout)
        try:
            data = self._socket.recv(1 << 18)
        except (TimeoutError, BlockingIOError):
            return False
        except ConnectionError:
            data = b""
        self.ended = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self.recording.add(recordings.entry_from_line(line))
        return bool(data)

    def end(self) -> None:
        """Tell the recorder that it is no longer needed, and wait until it is gone."""
        try:
            self._socket.settimeout(GRACE)
            self._socket.sendall(END)
            while self._socket.recv(1 << 18):
                pass
        except OSError:
            pass  # it ended by itself
        finally:
            self.close()

    def close(self) -> None:
        """Follow no longer; the recorder goes on."""
        self._socket.close()


def connect(path: Path) -> Live | None:
    """Follow the recorder of a recording; None when there is none."""
    if not socket_of(path).exists():
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _connect(connection, socket_of(path))
        return Live(connection)
    except (OSError, LockstepError):
        connection.close()
        return None


def _connect(connection: socket.socket, path: Path) -> None:
    if len(os.fsencode(path)) < LONGEST_ADDRESS:
        connection.connect(str(path))
        return
    with contextlib.chdir(path.parent):
        connection.connect(path.name)
