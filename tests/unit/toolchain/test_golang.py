"""Finding a Go that is new enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain import golang
from toolchain.group import Group


@pytest.fixture(autouse=True)
def no_system_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(golang, "SYSTEM", tmp_path / "system")


def test_needed_version_is_the_newest_of_the_go_mod_files(
    two_groups: dict[str, Group], tmp_path: Path
) -> None:
    assert golang.needed_version(two_groups.values()) == (1, 25, 3)
    (tmp_path / "tools" / "bell" / "go.mod").write_text("module bell\n\ngo 1.26.0\n")
    assert golang.needed_version(two_groups.values()) == (1, 26, 0)
    assert golang.needed_version([two_groups["anvil"]]) == (1, 25, 3)


def test_go_on_path_is_used(make_go: Callable[..., Path]) -> None:
    go = make_go(version="1.25.3")
    assert golang.find((1, 25, 3)) == go


def test_go_elsewhere_is_used_when_the_one_on_path_is_too_old(
    make_go: Callable[..., Path], tmp_path: Path
) -> None:
    newer = tmp_path / "home" / "sdk" / "go1.26.1" / "bin"
    newer.mkdir(parents=True)
    make_go(version="1.26.1").rename(newer / "go")
    make_go(version="1.19.8")
    assert golang.find((1, 25, 11)) == newer / "go"


def test_go_in_usr_local_is_found_without_path(
    make_go: Callable[..., Path], tmp_path: Path
) -> None:
    usual = tmp_path / "system" / "usr/local/go/bin"
    usual.mkdir(parents=True)
    make_go().rename(usual / "go")
    assert golang.find((1, 25)) == usual / "go"


def test_old_go_is_named_in_the_error(make_go: Callable[..., Path]) -> None:
    go = make_go(version="1.19.8")
    with pytest.raises(LockstepError) as caught:
        golang.find((1, 25, 11))
    assert "Go 1.25.11 or newer is needed" in str(caught.value)
    assert f"{go} is 1.19.8" in str(caught.value)
    assert "https://go.dev/dl/" in str(caught.value)


def test_absent_go_is_a_one_line_error() -> None:
    with pytest.raises(LockstepError) as caught:
        golang.find((1, 25, 11))
    assert "\n" not in str(caught.value)
    assert "put it on PATH" in str(caught.value)


def test_broken_go_is_passed_over(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "go"
    broken.write_text("not a program")
    broken.chmod(0o755)
    with pytest.raises(LockstepError):
        golang.find((1, 25))
