"""Programs of a build that take a while: their words go to a log, and a sign of life is given."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from lockstep import paths

KEPT = 5
PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def fresh(kind: str) -> Path:
    """A new, empty log of a build of this kind; the last few are kept."""
    folder = paths.cache_dir() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob(f"{kind}-*.log"))[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    log = folder / f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log.touch()
    return log


def run(
    path: Path,
    command: Sequence[str | Path],
    *,
    tick: Callable[[], None],
    environment: Mapping[str, str],
    cwd: Path | None = None,
    stdin: IO[bytes] | None = None,
) -> list[str] | None:
    """Run to the end and call `tick` meanwhile; answer what a program that failed has said."""
    with path.open("ab") as log:
        where = f"cd {cwd.name} && " if cwd else ""
        log.write(f"\n$ {where}{' '.join(map(str, command))}\n".encode())
        log.flush()
        begin = log.tell()
        process = subprocess.Popen(
            command,
            preexec_fn=_die_with_parent,
            cwd=cwd,
            env=environment,
            stdin=stdin or subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            _wait(process, tick)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    return _words_since(path, begin) if process.returncode else None


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> None:
    while True:
        try:
            process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            tick()
        else:
            return


def _words_since(path: Path, begin: int) -> list[str]:
    with path.open("rb") as log:
        log.seek(begin)
        return log.read().decode(errors="replace").splitlines()


def _die_with_parent() -> None:
    """Have a killed run take its program with it; runs in the child, before the program does."""
    if _prctl:
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
