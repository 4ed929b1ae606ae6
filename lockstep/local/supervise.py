"""`python supervise.py FOLDER`: run the programs of a cluster, and each again whenever it ends.

FOLDER/programs has three files per program: <name>.json is what to run, <name>.pid the running
process, <name>.log its output. SIGHUP makes the supervisor read the files again.

Two processes run this file. The supervisor holds the lock file; the standby waits for the lock, so
that it takes over at once when the supervisor is killed. Programs outlive a supervisor: the next
one finds them by their environment. When the lock file is removed, the supervisor ends everything.

Run as a file and without imports of Lockstep, so that it is small and starts quickly.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

LOCK = "supervisor.lock"
PROGRAMS = "programs"
FOLDER_MARK = "LOCKSTEP_CLUSTER_DIR"
"""Environment variable of every process of a cluster: the cluster's folder."""
PROGRAM_MARK = "LOCKSTEP_PROGRAM"
"""Environment variable of every program: its name, and the digest of the file it was started by."""
STANDBY = "standby"

STABLE_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
LARGEST_LOG = 20 * 2**20
CHECK_SECONDS = 5.0
"""Seconds between two checks of what nothing announces: the lock file, the size of the logs."""


def digest(text: str) -> str:
    """Identify the content of a program's file."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Process:
    """A running program."""

    pid: int
    pidfd: int
    digest: str
    started: float


class Supervisor:
    """Keeps the programs of a folder running while it holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._programs = folder / PROGRAMS
        self._running: dict[str, Process] = {}
        self._pauses: dict[str, float] = {}
        self._not_before: dict[str, float] = {}

    def run(self) -> None:
        """Wait for the lock, then supervise until the lock file is removed."""
        wakeup, signalled = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
        signal.signal(signal.SIGHUP, lambda *_: None)
        try:
            lock = os.open(self._folder / LOCK, os.O_RDWR)
        except FileNotFoundError:
            return
        fcntl.lockf(lock, fcntl.LOCK_EX)
        self._adopt()
        while os.fstat(lock).st_nlink:
            self._reconcile()
            self._limit_logs()
            self._wait(wakeup)
        for name in list(self._running):
            self._end(name)

    def _adopt(self) -> None:
        """Find the programs that an earlier supervisor started."""
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                self._adopt_process(int(entry.name))

    def _adopt_process(self, pid: int) -> None:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        environment = dict(one.split(b"=", 1) for one in variables if b"=" in one)
        is_ours = environment.get(FOLDER_MARK.encode()) == os.fsencode(self._folder)
        # A program leads its session; a process that the program itself has started does not.
        if not is_ours or pid == os.getpid() or os.getsid(pid) != pid:
            return
        name, started_by = environment.get(PROGRAM_MARK.encode(), b"").decode().split()
        if name in self._running:
            os.kill(pid, signal.SIGKILL)
        else:
            self._running[name] = Process(pid, os.pidfd_open(pid), started_by, time.monotonic())

    def _reconcile(self) -> None:
        """End what should not run, and start what should, unless it has to pause."""
        wanted = self._wanted()
        for name, process in list(self._running.items()):
            if name not in wanted or process.digest != digest(wanted[name]):
                self._end(name)
        waiting = self._not_before.items()
        self._not_before = {name: at for name, at in waiting if name in wanted}
        for name, text in wanted.items():
            if name not in self._running and time.monotonic() >= self._not_before.get(name, 0.0):
                self._start(name, text)

    def _wanted(self) -> dict[str, str]:
        """What to run: the text of each program's file, and the standby, by name."""
        command = [sys.executable, "-I", "-S", __file__, str(self._folder)]
        wanted = {STANDBY: json.dumps({"command": command})}
        for file in sorted(self._programs.glob("*.json")):
            with contextlib.suppress(FileNotFoundError):
                wanted[file.stem] = file.read_text()
        return wanted

    def _start(self, name: str, text: str) -> None:
        try:
            process = self._spawn(name, text)
        except OSError as error:
            print(f"cannot start {name}: {error}", file=sys.stderr, flush=True)
            self._pause(name, time.monotonic())
            return
        process.returncode = 0  # it may outlive this process: no ResourceWarning
        pidfd, started = os.pidfd_open(process.pid), time.monotonic()
        self._running[name] = Process(process.pid, pidfd, digest(text), started)
        fresh = self._programs / f".{name}.pid"
        with contextlib.suppress(OSError):  # a full disk must not end the supervisor
            fresh.write_text(f"{process.pid} {digest(text)}\n")
            fresh.replace(self._programs / f"{name}.pid")

    def _spawn(self, name: str, text: str) -> subprocess.Popen[bytes]:
        program = json.loads(text)
        log = os.open(self._programs / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                program["command"],
                cwd=self._folder,
                env={**os.environ, PROGRAM_MARK: f"{name} {digest(text)}"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)

    def _end(self, name: str) -> None:
        """Kill a program and wait until it has ended."""
        process = self._running[name]
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process.pidfd, signal.SIGKILL)
        ended = select.poll()
        ended.register(process.pidfd, select.POLLIN)
        ended.poll()
        self._forget(name)

    def _forget(self, name: str) -> Process:
        process = self._running.pop(name)
        os.close(process.pidfd)
        with contextlib.suppress(ChildProcessError):  # an earlier supervisor was its parent
            os.waitpid(process.pid, os.WNOHANG)
        (self._programs / f"{name}.pid").unlink(missing_ok=True)
        return process

    def _pause(self, name: str, started: float) -> None:
        """Start a program again after a pause, which grows while the program ends soon."""
        is_stable = time.monotonic() - started > STABLE_SECONDS
        pause = FIRST_PAUSE if is_stable else self._pauses.get(name, FIRST_PAUSE)
        self._not_before[name] = time.monotonic() + pause
        self._pauses[name] = min(2 * pause, LONGEST_PAUSE)

    def _wait(self, wakeup: int) -> None:
        """Wait for a signal, for the end of a program, or until something is due."""
        events = select.poll()
        events.register(wakeup, select.POLLIN)
        names = {process.pidfd: name for name, process in self._running.items()}
        for pidfd in names:
            events.register(pidfd, select.POLLIN)
        pauses = [at for name, at in self._not_before.items() if name not in self._running]
        seconds = min([*pauses, time.monotonic() + CHECK_SECONDS]) - time.monotonic()
        for descriptor, _ in events.poll(max(0.0, seconds) * 1000 + 1):
            if descriptor == wakeup:
                os.read(wakeup, 4096)
            else:
                name = names[descriptor]
                self._pause(name, self._forget(name).started)

    def _limit_logs(self) -> None:
        """Empty a log that has grown too large; the programs append, so they go on at its top."""
        for log in self._programs.glob("*.log"):
            if log.stat().st_size > LARGEST_LOG:
                os.truncate(log, 0)


if __name__ == "__main__":
    os.umask(0o077)
    Supervisor(Path(sys.argv[1])).run()
