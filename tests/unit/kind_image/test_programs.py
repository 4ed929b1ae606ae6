"""Programs that go into images without libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolchain
from lockstep.errors import LockstepError
from toolchain.kind_image import programs


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(toolchain, "tool", lambda name: tmp_path / name)
    return tmp_path / "etcd"


def test_static_program_is_taken(tool: Path) -> None:
    tool.write_bytes(b"\x7fELF" + bytes(8192))
    assert programs.program("etcd") == tool


def test_program_that_needs_libraries_is_refused(tool: Path) -> None:
    tool.write_bytes(b"\x7fELF" + bytes(512) + b"/lib64/ld-linux-x86-64.so.2\0")
    with pytest.raises(LockstepError, match="needs shared libraries"):
        programs.program("etcd")
