"""Start, stop and follow the recorder, a process in the background.

The recorder appends to the recording's file and holds a lock on that file as long as it runs, so
"is it running?" has one answer that survives crashes, stalls and reused process ids. A reader
follows the recording by reading what was appended; the recorder's ticks tell it until when the
recording is complete.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.recording import model
from lockstep.recording.model import Recording
from lockstep.wait import wait_until

DEADLINE = 1800.0
"""Seconds after which a recorder that no process follows ends by itself."""
GRACE = 5.0
"""Seconds that a recorder may take to answer or to end."""
POLL = 0.02
"""Seconds between two looks at the file: the delay with which a reader sees a change."""
EXTEND = signal.SIGUSR1
"""The signal that restarts the recorder's deadline."""


@dataclass(frozen=True)
class LocalScheduler:
    """Volcano's scheduler where its metrics are reached directly, as on an embedded cluster."""

    metrics: str
    """The address of its metrics: a URL, or `unix:` and the path of a socket."""
    conf: Path | None
    """The configuration file that it watches, where that is on this machine."""

    @property
    def socket(self) -> Path | None:
        """The unix-domain socket of the metrics; None if the address is a URL."""
        scheme, _, path = self.metrics.partition(":")
        return Path(path) if scheme == "unix" else None


@dataclass(frozen=True)
class Subject:
    """What to record, and where."""

    path: Path
    scenario: str
    namespace: str
    pool: str
    kubeconfig: str | None
    context: str | None = None
    deadline: float = DEADLINE
    """Seconds after which the recorder ends by itself, counted from the last `connect`."""
    scheduler: LocalScheduler | None = None
    """Volcano's scheduler where it is a process of this machine; None where it runs in pods."""

    def variables(self) -> dict[str, str]:
        """The environment variables from which the recorder learns what to record."""
        return {
            "LOCKSTEP_SCENARIO": self.scenario,
            "LOCKSTEP_NAMESPACE": self.namespace,
            "LOCKSTEP_POOL": self.pool,
            "LOCKSTEP_KUBECONFIG": self.kubeconfig or "",
            "LOCKSTEP_CONTEXT": self.context or "",
            "LOCKSTEP_DEADLINE": str(self.deadline),
            "LOCKSTEP_SCHEDULER_METRICS": self.scheduler.metrics if self.scheduler else "",
            "LOCKSTEP_SCHEDULER_CONF": str(self.scheduler.conf or "") if self.scheduler else "",
        }


def log_file(path: Path) -> Path:
    """The file to which the recorder of a recording writes its errors."""
    return path.with_suffix(".log")


def start(subject: Subject) -> dict[str, str]:
    """Start a recorder in place of an earlier one; return when it has established its watches.

    The result names the recording and this run of it.
    """
    stop(subject.path)
    subject.path.unlink(missing_ok=True)
    subject.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    process = _spawn(subject)
    while (run := _run_of(process.pid, subject.path)) is None:
        if process.poll() is not None:
            raise LockstepError(f"the recorder did not start: {_last_error(subject.path)}")
        time.sleep(POLL)
    # The recorder outlives this process; Python would warn about a child that is still running.
    process.returncode = 0
    return {"recording": str(subject.path), "run": run}


def _run_of(pid: int, path: Path) -> str | None:
    """The run that a process records, which creates the file once its watches are established.

    A recorder that a killed `start` has left behind may create it before.
    """
    try:
        with path.open("rb") as file:
            header = model.read_header(file)
    except FileNotFoundError:
        return None
    return header.run if header.pid == pid else None


def _spawn(subject: Subject) -> subprocess.Popen[bytes]:
    """Start the process, detached from this terminal and session."""
    # The mark lets whatever removes the cluster find and end the recorder, too.
    environment = processes.marked_environment(subject.path.parent.parent)
    log = os.open(log_file(subject.path), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "lockstep", "step", "record", "--serve", str(subject.path)],
            cwd=paths.project_dir(),
            env={**environment, **subject.variables()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _last_error(path: Path) -> str:
    lines = log_file(path).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("lockstep: ") if lines else "it printed no error"


def stop(path: Path) -> None:
    """End the recorder of a recording, if it runs; the recording stays."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        if not _is_recorded(file):
            return
        pid = model.read_header(file).pid
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(LockstepError):
                _signal(pid, number)
                wait_until("its end", lambda: not _is_recorded(file), GRACE, POLL)
                return
        raise LockstepError(f"the recorder, process {pid}, does not end; kill it by hand")


def remove(path: Path) -> None:
    """End the recorder and remove its recording, and the folders if they are empty then."""
    stop(path)
    for leftover in (path, log_file(path)):
        leftover.unlink(missing_ok=True)
    for folder in (path.parent, path.parent.parent):
        with contextlib.suppress(OSError):  # not empty
            folder.rmdir()


def lock(file: IO[bytes]) -> None:
    """Lock a recording for the process that writes it, until that process ends."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_recorded(file: IO[bytes]) -> bool:
    """Whether a recorder, even a stalled one, holds the lock of the file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(pid, number)


class Live:
    """A recording that is still being made, for a process that follows it.

    `recording` has what was read so far, `ended` tells that the recorder has ended, `wait` reads
    on, `end` ends the recorder, `close` only stops following it.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._rest = b""
        self._last_news = time.monotonic()
        self.recording = Recording(model.read_header(file))
        self.ended = False

    def now(self) -> float:
        """The time since the start of the recording, by this process's clock."""
        return time.monotonic() - self.recording.header.clock

    def wait(self, until: float, gather: float = 0.0, grace: float = GRACE) -> None:
        """Return after a new observation, or when the recording is complete until a time.

        Observations of the next `gather` seconds, and all that were made already, are read, too.
        A recorder or an API server that hangs delays the return by `grace` seconds at most.
        """
        before = self._count()
        while self._count() == before and self.recording.end < until and not self.ended:
            if not self._read():
                time.sleep(POLL)
                if self.now() >= until + grace:
                    return
        enough = self.now() + gather
        while self._read() or self.now() < enough:
            if self.ended:
                return
            time.sleep(min(POLL, max(enough - self.now(), 0.0)))

    def _count(self) -> int:
        return len(self.recording.observations) + len(self.recording.watch_log)

    def _read(self) -> bool:
        """Take in what was appended since the last call; return whether there was anything."""
        # Asked before reading: what a recorder wrote before its end is read in any case.
        silent = time.monotonic() - self._last_news > 1.0
        ended = self.ended or (silent and not _is_recorded(self._file))
        data = self._file.read()
        if data:
            self._last_news = time.monotonic()
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self.recording.add(model.entry_from_line(line))
        self.ended = ended
        return bool(data)

    def end(self) -> None:
        """End the recorder, wait until its process has ended, and read its last entries."""
        stop(self._path)
        self._read()
        self.ended = True
        self.close()

    def close(self) -> None:
        """Stop following; the recorder goes on."""
        self._file.close()


def connect(path: Path) -> Live | None:
    """Follow the recorder of a recording; None when no recorder runs.

    This restarts the recorder's deadline, so that it does not end before a late judge.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    if not _is_recorded(file):
        file.close()
        return None
    live = Live(path, file)
    _signal(live.recording.header.pid, EXTEND)
    return live
