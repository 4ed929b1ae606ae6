"""Downloading and building: once, by one run at a time, with one-line errors."""

import dataclasses
import hashlib
import io
import subprocess
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import toolchain
from lockstep.errors import LockstepError
from toolchain import cache, golang
from toolchain.catalogue import Group, Release

MakeGo = Callable[..., Path]
Groups = dict[str, Group]
Capture = pytest.CaptureFixture[str]


def builds(tmp_path: Path) -> int:
    calls = tmp_path / "calls"
    return calls.read_text().count("build -v") if calls.exists() else 0


def test_missing_groups_are_built_with_progress_and_a_log(
    two_groups: Groups, make_go: MakeGo, tmp_path: Path, capsys: Capture
) -> None:
    make_go()
    toolchain.ensure()
    program = cache.program(two_groups["anvil"], "anvil")
    assert subprocess.run([program], capture_output=True, text=True).stdout.strip() == str(program)
    chart = cache.folder(two_groups["anvil"]) / "charts" / "anvil" / "Chart.yaml"
    assert chart.stat().st_mode & 0o777 == 0o644
    printed = capsys.readouterr().err
    log = tmp_path / "cache" / "logs" / "tools.log"
    assert f"log: {log}" in printed
    assert "[1/2] anvil … built after 0m0" in printed
    assert "[2/2] anvilctl … built after 0m0" in printed
    flags = "-ldflags example.org/anvil=-s -w -X example.org/v.Version=v1.2.3 "
    assert f"{flags}-ldflags example.org/anvilctl=-s -w -o " in log.read_text()
    assert builds(tmp_path) == 1
    assert not cache.is_present(two_groups["bell"])
    assert not cache.build_dir().exists()


@pytest.mark.usefixtures("two_groups")
def test_second_run_needs_no_compiler_and_prints_nothing(
    make_go: MakeGo, tmp_path: Path, capsys: Capture
) -> None:
    make_go()
    toolchain.ensure(keep_build_cache=True)
    assert cache.build_dir().is_dir()
    capsys.readouterr()
    (tmp_path / "bin" / "go").unlink()
    toolchain.ensure()
    assert capsys.readouterr().err == ""


def test_failed_build_keeps_finished_groups_and_resumes(
    two_groups: Groups, make_go: MakeGo, tmp_path: Path
) -> None:
    make_go('case "$PWD" in */bell) echo no space left on device >&2; exit 1; esac')
    with pytest.raises(LockstepError, match="the disk became full while building bell"):
        toolchain.ensure(["anvil", "bell"])
    assert cache.is_present(two_groups["anvil"])
    assert not cache.is_present(two_groups["bell"])
    make_go()
    toolchain.ensure(["anvil", "bell"])
    assert builds(tmp_path) == 3  # anvil's module once, bell's twice


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (
            'Get "https://p/x": dial tcp 127.0.0.1:1: connect: connection refused',
            r"Go module proxy is unreachable .*connection refused.*GOPROXY",
        ),
        ("undefined: foo", r"building bell failed: undefined: foo \(log: .*tools\.log\)"),
        ("", r"building bell failed: no output"),
    ],
)
@pytest.mark.usefixtures("two_groups")
def test_failed_build_is_a_one_line_error(make_go: MakeGo, printed: str, expected: str) -> None:
    make_go(f"echo '{printed}' >&2; exit 1")
    with pytest.raises(LockstepError, match=expected) as caught:
        toolchain.ensure(["bell"])
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("two_groups")
def test_old_go_on_path_is_passed_over(make_go: MakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = make_go().rename(make_go().parent.parent / "newer")
    make_go(version="1.19.8")
    assert golang.find() is None
    monkeypatch.setattr(golang, "USUAL_PLACES", (str(newer),))
    assert golang.find() == newer


@pytest.mark.usefixtures("two_groups")
def test_cache_that_cannot_be_written_is_a_one_line_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "file"))
    with pytest.raises(LockstepError, match=r"cannot write the toolchain to .*LOCKSTEP_CACHE"):
        toolchain.ensure()


@pytest.mark.usefixtures("two_groups")
def test_runs_at_the_same_time_build_once(make_go: MakeGo, tmp_path: Path, capsys: Capture) -> None:
    make_go("sleep 0.3")
    threads = [threading.Thread(target=toolchain.ensure) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builds(tmp_path) == 1
    assert "another run makes the toolchain; waiting for it" in capsys.readouterr().err


def test_users_go_settings_do_not_change_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    monkeypatch.setenv("GOOS", "plan9")
    monkeypatch.setenv("GOPROXY", "https://proxy.example.org")
    told = golang.environment()
    assert "-mod=readonly" in told["GOFLAGS"]
    assert "GOOS" not in told
    assert told["GOPROXY"] == "https://proxy.example.org"


PROGRAM = b"#!/bin/sh\necho bell\n"


def archive(name: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(PROGRAM)
        tar.addfile(info, io.BytesIO(PROGRAM))
    return stream.getvalue()


@pytest.fixture
def publish_release(two_groups: Groups, tmp_path: Path, make_go: MakeGo) -> Callable[..., Group]:
    """Give `bell` a release: a file whose pinned checksum may be that of other content."""

    def publish(content: bytes, pinned: bytes | None = None, *members: str) -> Group:
        make_go()
        (tmp_path / "release").write_bytes(content)
        checksum = hashlib.sha512(content if pinned is None else pinned).hexdigest()
        release = Release((tmp_path / "release").as_uri(), checksum, members)
        two_groups["bell"] = dataclasses.replace(two_groups["bell"], release=release)
        return two_groups["bell"]

    return publish


@pytest.mark.parametrize("members", [(), ("bell-2.0.0/bin/bell",)])
def test_release_with_the_pinned_checksum_is_used(
    publish_release: Callable[..., Group], tmp_path: Path, members: tuple[str, ...]
) -> None:
    content = archive(*members) if members else PROGRAM
    bell = publish_release(content, None, *members)
    toolchain.ensure(["bell"])
    assert cache.program(bell, "bell").read_bytes() == PROGRAM
    assert cache.program(bell, "bell").stat().st_mode & 0o111
    assert cache.source(bell) == "release"
    assert builds(tmp_path) == 0


@pytest.mark.parametrize(
    ("pinned", "members", "reason"),
    [
        (b"other", (), "which is not pinned"),
        (None, ("bell/missing",), "has no file bell/missing"),
        (None, (), "No such file"),
    ],
)
def test_release_that_cannot_be_used_is_built_instead(
    publish_release: Callable[..., Group],
    tmp_path: Path,
    capsys: Capture,
    pinned: bytes | None,
    members: tuple[str, ...],
    reason: str,
) -> None:
    bell = publish_release(archive("bell/other"), pinned, *members)
    if "No such file" in reason:
        (tmp_path / "release").unlink()
    toolchain.ensure(["bell"])
    assert cache.source(bell) == "built"
    assert cache.program(bell, "bell").read_bytes() != PROGRAM
    line = next(line for line in capsys.readouterr().err.splitlines() if "instead" in line)
    assert line.startswith("lockstep: building bell instead of downloading it (")
    assert reason in line
