"""Running programs that take a while: their words go to a log, a failure becomes one line."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lockstep.errors import LockstepError
from toolchain import build_log


@dataclass
class Console:
    """Where programs run by one build write, and how it says that work goes on."""

    tick: Callable[[], None]
    log: Path = field(default_factory=lambda: build_log.fresh("kind-image"))

    def run(
        self,
        what: str,
        command: Sequence[str | Path],
        *,
        stdin: IO[bytes] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Run to the end; `what` names the work in the error."""
        words = build_log.run(
            self.log,
            command,
            tick=self.tick,
            environment={**os.environ, **(environment or {})},
            stdin=stdin,
        )
        if words is not None:
            raise LockstepError(explain(what, words, self.log))

    def ask(self, command: Sequence[str | Path]) -> str:
        """Run a short command for its answer."""
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            raise LockstepError(f"{' '.join(map(str, command[:3]))} failed: {said[-1][:200]}")
        return done.stdout


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
