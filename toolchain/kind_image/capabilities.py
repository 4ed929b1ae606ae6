"""What this machine lets its containers do."""

from __future__ import annotations

import re
from pathlib import Path

CAP_SYS_RESOURCE = 24
STATUS = Path("/proc/self/status")


def withheld(status: Path = STATUS) -> bool:
    """Whether CAP_SYS_RESOURCE cannot be had here, not even by root.

    Some virtual machines and containers run everything without it. Docker's privileged containers,
    which kind's nodes are, then fail to start unless a runtime leaves that capability out.
    """
    try:
        bounding = re.search(r"^CapBnd:\s*([0-9a-f]+)$", status.read_text(), re.MULTILINE)
    except OSError:  # not Linux
        return False
    return bounding is not None and not int(bounding[1], 16) >> CAP_SYS_RESOURCE & 1
