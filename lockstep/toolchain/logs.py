"""One log per run that builds something; the last few are kept."""

from __future__ import annotations

import os
import time
from pathlib import Path

from lockstep import paths

KEPT = 5


def fresh() -> Path:
    """A new, empty log."""
    folder = paths.cache_dir() / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("tools-*.log"))[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    log = folder / f"tools-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log.touch()
    return log
