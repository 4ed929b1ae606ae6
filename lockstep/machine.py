"""The memory that programs may use on this machine, or in this container."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

PROCESS = Path("/proc/self/cgroup")
CGROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """Return the machine's memory in bytes, or the lower limit of this process's control groups.

    All of it and not what is free now: the same config must not be refused later on, because the
    stack itself uses memory.
    """
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([installed, *_limits()])


def _limits() -> Iterator[int]:
    """Yield the limits of this process's control groups and of all above them."""
    try:
        lines = PROCESS.read_text().splitlines()
    except OSError:
        return  # no Linux
    for line in lines:
        # Version 2 has one hierarchy, without a name; version 1 has one for the memory.
        _, controllers, group = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        root, file = (CGROUPS, "memory.max")
        if controllers:
            root, file = (CGROUPS / "memory", "memory.limit_in_bytes")
        # Inside a container the path may be the host's; then its own group is the root.
        for above in (path := PurePosixPath(group), *path.parents):
            limit = root / above.relative_to("/") / file
            text = limit.read_text().strip() if limit.is_file() else ""
            if text.isdecimal():  # and not "max"
                yield int(text)
