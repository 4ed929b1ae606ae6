"""Building with Go: what it is told, and what its failures are turned into."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain import cache, network, workshop
from toolchain.group import Copy, Group, Program
from toolchain.workshop import Workshop, explain, go_environment

MakeGo = Callable[..., Path]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def make_workshop(make_go: MakeGo, tmp_path: Path) -> Callable[..., Workshop]:
    (tmp_path / "log").touch()

    def make(behaviour: str = "", **settings: str) -> Workshop:
        return Workshop(make_go(behaviour, **settings), tmp_path / "log", lambda: None)

    return make


def build(builder: Workshop, group: Group, sources: Path) -> Path:
    builder.copy_sources(group, sources)
    target = sources / "program"
    builder.build(group.programs[0], sources, target)
    return target


def test_build_downloads_first_and_then_compiles_without_the_network(
    make_workshop: Callable[..., Workshop],
    two_groups: dict[str, Group],
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOPROXY", "https://proxy.example.org")
    assert build(make_workshop(), two_groups["anvil"], sources).is_file()
    listing, building = (tmp_path / "calls").read_text().splitlines()
    assert listing.startswith(f"{sources}/anvil https://proxy.example.org list -x -deps")
    assert building.startswith(f"{sources}/anvil off build -ldflags -s -w -X example.org/v.Version")


def test_go_is_told_nothing_of_the_users_settings_but_the_proxy() -> None:
    users = {"GOFLAGS": "-mod=vendor", "GOOS": "plan9", "GOPROXY": "p", "CGO_ENABLED": "1"}
    told = go_environment(users)
    assert "-mod=readonly" in told["GOFLAGS"]
    assert "GOOS" not in told
    assert told["CGO_ENABLED"] == "0"
    assert told["GOTOOLCHAIN"] == "local"
    assert told["GOPROXY"] == "p"
    for name in ("GOCACHE", "GOMODCACHE", "GOTMPDIR"):
        assert told[name].startswith(str(cache.build_dir()))


def test_copy_is_writable_and_scripts_are_executable(
    make_workshop: Callable[..., Workshop], sources: Path, tmp_path: Path
) -> None:
    builder = make_workshop()
    (sources / "anvil").mkdir()
    chart = tmp_path / "module" / "chart"
    (chart / "Chart.yaml").chmod(0o444)
    builder.copy(Copy("anvil", "example.org/anvil", "chart", "charts/anvil"), sources, sources)
    copied = sources / "charts" / "anvil" / "Chart.yaml"
    assert copied.stat().st_mode & 0o777 == 0o644
    source = "chart/Chart.yaml"
    builder.copy(Copy("anvil", "example.org/anvil", source, "bin/script"), sources, sources)
    assert (sources / "bin" / "script").stat().st_mode & 0o777 == 0o755


@pytest.mark.usefixtures("two_groups")
def test_embedded_files_are_beside_the_source(
    make_workshop: Callable[..., Workshop], sources: Path
) -> None:
    program = Program("anvil", "anvil", ".")
    embed = Copy("anvil", "example.org/anvil", "chart/Chart.yaml", "schema.json")
    group = Group("anvil", "1.2.3", (program,), gigabytes=0, minutes=0, embeds=(embed,))
    make_workshop().copy_sources(group, sources)
    assert (sources / "anvil" / "schema.json").read_text() == "name: anvil\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "write /x: no space left on device",
            r"disk became full while building anvil.*LOCKSTEP_CACHE",
        ),
        (
            'Get "https://p/x": dial tcp 127.0.0.1:1: connect: connection refused',
            r"Go module proxy does not answer .*connection refused.*GOPROXY",
        ),
        ("dial tcp: lookup p: no such host", r"Go module proxy does not answer"),
        ("undefined: foo", r"building anvil failed: undefined: foo \(the whole log: .*log\)"),
        ("", r"building anvil failed: Go said nothing"),
    ],
)
def test_failure_is_explained_in_one_line(
    make_workshop: Callable[..., Workshop],
    two_groups: dict[str, Group],
    sources: Path,
    said: str,
    expected: str,
) -> None:
    builder = make_workshop(f"echo '# get https://p/x'; echo '{said}'; exit 1")
    with pytest.raises(LockstepError, match=expected) as caught:
        build(builder, two_groups["anvil"], sources)
    assert "\n" not in str(caught.value)


def test_failure_of_an_earlier_step_is_not_repeated(tmp_path: Path) -> None:
    assert "second" in explain("anvil", ["first", "second"], tmp_path / "log")


def test_proxy_that_never_answers_ends_the_wait(
    make_workshop: Callable[..., Workshop],
    two_groups: dict[str, Group],
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workshop, "SILENCE", 0.1)
    monkeypatch.setattr(network, "ANSWER_WITHIN", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"http://user:password@127.0.0.1:{silent.getsockname()[1]}"
        builder = make_workshop("exec sleep 60", proxy=proxy)
        began = time.monotonic()
        with pytest.raises(LockstepError, match=r"proxy 127\.0\.0\.1 does not answer") as caught:
            build(builder, two_groups["anvil"], sources)
    assert time.monotonic() - began < 10
    assert "password" not in str(caught.value)


def test_slow_download_from_a_living_proxy_goes_on(
    make_workshop: Callable[..., Workshop],
    two_groups: dict[str, Group],
    sources: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr(workshop, "SILENCE", 0.1)
    monkeypatch.setattr(network, "check_module_proxy", lambda go, _: asked.append(go))
    assert build(make_workshop("sleep 0.5"), two_groups["anvil"], sources).is_file()
    assert asked
