"""Running programs that take a while: their words go to a log, a failure becomes one line."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lockstep import paths
from lockstep.errors import LockstepError

KEPT = 5


@dataclass
class Console:
    """Where programs run by one build write, and how it says that work goes on."""

    tick: Callable[[], None]
    log: Path = field(default_factory=lambda: fresh_log())

    def run(
        self,
        what: str,
        command: Sequence[str | Path],
        *,
        stdin: IO[bytes] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Run to the end; `what` names the work in the error."""
        with self.log.open("ab") as log:
            log.write(f"\n$ {' '.join(map(str, command))}\n".encode())
            log.flush()
            begin = log.tell()
            process = subprocess.Popen(
                command,
                stdin=stdin or subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **(environment or {})},
            )
            try:
                self._wait(process)
            finally:
                if process.poll() is None:
                    process.terminate()
                    process.wait()
        if process.returncode:
            raise LockstepError(explain(what, self._words_since(begin), self.log))

    def ask(self, command: Sequence[str | Path]) -> str:
        """Run a short command for its answer."""
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            raise LockstepError(f"{' '.join(map(str, command[:3]))} failed: {said[-1][:200]}")
        return done.stdout

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                process.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                self.tick()
            else:
                return

    def _words_since(self, begin: int) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace").splitlines()


def fresh_log() -> Path:
    """A new, empty log; the last few are kept."""
    folder = paths.cache_dir() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("kind-image-*.log"))[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    log = folder / f"kind-image-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log.touch()
    return log


NETWORK_SIGNS = (
    "could not resolve",
    "connection timed out",
    "temporary failure resolving",
    "failed getting release file",
    "couldn't download packages",
    "unable to connect",
    "failed to fetch",
)


def explain(what: str, words: Sequence[str], log: Path) -> str:
    """Turn what a failed program said into one line that says what to do."""
    text = "\n".join(words).lower()
    if "no space left on device" in text:
        return f"{what}: the disk is full; free some space and run this again"
    last = next((line.strip() for line in reversed(words) if line.strip()), "it said nothing")
    if any(sign in text for sign in NETWORK_SIGNS):
        return (
            f"{what}: the Debian mirror does not answer ({last[:120]}); check the network, or set "
            "LOCKSTEP_DEBIAN_MIRROR"
        )
    return f"{what} failed: {last[:200]} (the whole log: {log})"
