"""Making what is absent: once, whole, by one run at a time, and with clear words when it fails."""

from __future__ import annotations

import io
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import toolchain
from lockstep.errors import LockstepError
from toolchain import cache, golang, network, release
from toolchain.group import Asset, Group
from toolchain.progress import Progress

MakeGo = Callable[..., Path]
Groups = dict[str, Group]


@pytest.fixture(autouse=True)
def no_system_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(golang, "SYSTEM", tmp_path / "system")


def ensure(*groups: str, **settings: bool) -> str:
    """Make groups and return what was said."""
    out = io.StringIO()
    toolchain.ensure(groups or None, Progress(out), **settings)
    return out.getvalue()


def calls(tmp_path: Path) -> int:
    file = tmp_path / "calls"
    return sum(" build " in line for line in file.read_text().splitlines()) if file.exists() else 0


def test_default_set_is_made_with_progress_and_a_log(
    two_groups: Groups, make_go: MakeGo, tmp_path: Path
) -> None:
    make_go()
    said = ensure()
    program = cache.program(two_groups["anvil"], "anvil")
    assert subprocess.run([program], capture_output=True, text=True).stdout.strip() == str(program)
    assert (cache.folder(two_groups["anvil"]) / "charts" / "anvil" / "Chart.yaml").is_file()
    assert "[1/2] anvil … building from Go modules\n[1/2] anvil … built in 0s" in said
    assert "[2/2] anvilctl … built" in said
    log = next((tmp_path / "cache" / "logs").iterdir())
    assert str(log) in said
    assert "go build" in log.read_text()
    assert not cache.is_present(two_groups["bell"])


@pytest.mark.usefixtures("two_groups")
def test_second_run_does_and_says_nothing(make_go: MakeGo, tmp_path: Path) -> None:
    make_go()
    ensure()
    assert calls(tmp_path) == 2
    (tmp_path / "bin" / "go").unlink()
    assert ensure() == ""
    assert calls(tmp_path) == 2


def test_changed_pin_rebuilds_its_group_only(
    two_groups: Groups, make_go: MakeGo, tmp_path: Path
) -> None:
    make_go()
    ensure("anvil", "bell")
    assert calls(tmp_path) == 3
    (cache.sources() / "bell" / "go.sum").write_text("changed")
    ensure("anvil", "bell")
    assert calls(tmp_path) == 4
    assert cache.is_present(two_groups["bell"])


@pytest.mark.usefixtures("two_groups")
def test_build_cache_is_removed_after_success(make_go: MakeGo) -> None:
    make_go()
    ensure()
    assert not cache.build_dir().exists()


@pytest.mark.usefixtures("two_groups")
def test_build_cache_is_kept_on_demand(make_go: MakeGo) -> None:
    make_go()
    ensure(keep_build_cache=True)
    assert cache.build_dir().is_dir()


def test_failed_build_keeps_what_is_done_and_resumes(
    two_groups: Groups, make_go: MakeGo, tmp_path: Path
) -> None:
    make_go('[ "$1" = list ] && case "$PWD" in */bell) echo no space left on device; exit 1; esac')
    with pytest.raises(LockstepError, match="the disk became full while building bell"):
        ensure("anvil", "bell")
    assert cache.is_present(two_groups["anvil"])
    assert not cache.is_present(two_groups["bell"])
    assert cache.build_dir().is_dir()
    make_go()
    ensure("anvil", "bell")
    assert calls(tmp_path) == 3
    assert not cache.build_dir().exists()


@pytest.mark.usefixtures("two_groups")
def test_no_compiler_is_a_one_line_error() -> None:
    with pytest.raises(LockstepError, match=r"Go 1\.25\.3 or newer is needed"):
        ensure()


@pytest.mark.usefixtures("two_groups")
def test_compiler_must_suit_the_groups_that_are_built(make_go: MakeGo) -> None:
    make_go(version="1.25.3")
    (cache.sources() / "bell" / "go.mod").write_text("module bell\n\ngo 1.26.0\n")
    ensure("anvil")
    with pytest.raises(LockstepError, match=r"Go 1\.26\.0 or newer is needed"):
        ensure("bell")


def test_small_disk_is_an_error_before_anything_is_done(
    two_groups: Groups, make_go: MakeGo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_go()
    object.__setattr__(two_groups["anvil"], "gigabytes", 12)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3.2 * 10**9))
    with pytest.raises(LockstepError, match=r"about 12 GB .* and 3\.2 GB are free.*LOCKSTEP_CACHE"):
        ensure()
    assert calls(tmp_path) == 0


@pytest.mark.usefixtures("two_groups")
def test_cache_that_cannot_be_written_is_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "file"))
    with pytest.raises(LockstepError, match=r"cannot make the toolchain in .*LOCKSTEP_CACHE"):
        ensure()


@pytest.mark.usefixtures("two_groups")
def test_runs_at_the_same_time_build_once(make_go: MakeGo, tmp_path: Path) -> None:
    make_go('[ "$1" = list ] && sleep 0.5')
    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(ensure())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls(tmp_path) == 2
    assert "another run is making anvil; waiting for it" in "".join(said)
    assert "[1/2] anvil … made by another run" in "".join(said)


def test_release_that_can_be_reached_is_not_built(
    two_groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    bell = two_groups["bell"]
    object.__setattr__(bell, "assets", (Asset("https://x/bell", "https://x/sum", program="bell"),))

    def download(self: object, group: Group, sums: list[str], into: Path) -> str:
        del self, group
        (into / "bin" / "bell").write_text(sums[0])
        return "release"

    monkeypatch.setattr(release.Releases, "checksums", lambda *_: ["sum"])
    monkeypatch.setattr(release.Releases, "download", download)
    said = ensure("bell")
    assert "[1/1] bell … downloaded in 0s" in said
    assert cache.source(bell) == "release"


def test_download_that_fails_is_built_instead(
    two_groups: Groups, make_go: MakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(*_: object) -> str:
        raise network.NoAnswerError("it broke off")

    monkeypatch.setattr(release.Releases, "checksums", lambda *_: ["sum"])
    monkeypatch.setattr(release.Releases, "download", download)
    make_go()
    said = ensure("bell")
    assert "the download of bell failed (it broke off)" in said
    assert "[1/1] bell … built in 0s" in said
    assert cache.source(two_groups["bell"]) == "built"
