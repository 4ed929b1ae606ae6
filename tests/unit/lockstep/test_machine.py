"""The memory of this machine, or of the container that the process is in."""

import os
from pathlib import Path

import pytest

from lockstep import machine

INSTALLED = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def cgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "PROCESS", tmp_path / "cgroup")
    monkeypatch.setattr(machine, "CGROUPS", tmp_path)
    return tmp_path


def limit(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n")


def test_memory_is_what_is_installed_where_nothing_limits_it(cgroups: Path) -> None:
    assert machine.memory() == INSTALLED
    (cgroups / "cgroup").write_text("0::/a/b\n")
    limit(cgroups, "a/b/memory.max", "max")
    assert machine.memory() == INSTALLED


@pytest.mark.parametrize(
    ("own", "path"),
    [
        ("0::/a/b", "a/b/memory.max"),
        ("0::/a/b", "a/memory.max"),
        # Inside of a container, the path may be that of the host.
        ("0::/system/container", "memory.max"),
        ("5:memory:/a/b", "memory/a/memory.limit_in_bytes"),
    ],
)
def test_lowest_limit_of_a_control_group_counts(cgroups: Path, own: str, path: str) -> None:
    (cgroups / "cgroup").write_text(f"7:cpu,cpuacct:/x\n{own}\n")
    limit(cgroups, "x/memory.max", "5")
    limit(cgroups, "cpu/memory.limit_in_bytes", "5")
    limit(cgroups, path, "4096")
    assert machine.memory() == 4096
