"""Which files a program takes along, and where they really are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image import libraries

LDD = """\
\tlinux-vdso.so.1 (0x00007ffd3a5f2000)
\tlibxtables.so.12 => /lib/x86_64-linux-gnu/libxtables.so.12 (0x00007f1)
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f2)
\t/lib64/ld-linux-x86-64.so.2 (0x00007f3)
"""


def test_libraries_and_loader_are_needed_but_not_the_kernels_own() -> None:
    assert libraries.needed(LDD) == [
        "/lib/x86_64-linux-gnu/libxtables.so.12",
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/lib64/ld-linux-x86-64.so.2",
    ]


def test_static_program_needs_nothing() -> None:
    assert libraries.needed("\tnot a dynamic executable\n") == []


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root as Debian lays it out: /lib is a link, and libraries are links to versions."""
    root = tmp_path / "root"
    (root / "usr/lib/arch").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (root / "usr/lib/arch/libx.so.1.2").write_text("x")
    (root / "usr/lib/arch/libx.so.1").symlink_to("libx.so.1.2")
    (root / "usr/lib/absolute.so").symlink_to("/lib/arch/libx.so.1")
    (root / "usr/lib/arch/up.so").symlink_to("../arch/libx.so.1")
    return root


@pytest.mark.parametrize("path", ["/lib/arch/libx.so.1", "/lib/absolute.so", "/lib/arch/up.so"])
def test_links_stay_inside_the_root(root: Path, path: str) -> None:
    assert libraries.resolve(root, path) == root / "usr/lib/arch/libx.so.1.2"


def test_what_a_plugin_loads_comes_along(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An iptables extension needs the maths library, which iptables itself does not."""
    said = "/lib/arch/x.so:\n\tlibx.so.1 => /lib/arch/libx.so.1 (0x1)\n"
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(command, 0, said, ""),
    )
    entries = libraries.with_libraries(root, ("/lib/arch/up.so",))
    assert [entry.path for entry in entries] == ["/lib/arch/up.so", "/lib/arch/libx.so.1"]
    assert entries[1].source == root / "usr/lib/arch/libx.so.1.2"


def test_missing_library_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(command, 0, "libm.so.6 => not found", ""),
    )
    with pytest.raises(LockstepError, match="a library is missing"):
        libraries.with_libraries(root, ("/lib/arch/up.so",))
