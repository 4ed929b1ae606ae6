"""Official releases, from a server of the test's own."""

from __future__ import annotations

import hashlib
import io
import socket
import tarfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain import network, release
from toolchain.group import Asset, Group
from toolchain.release import Releases

PROGRAM = b"#!/bin/sh\necho anvil\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def archive(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(f"anvil/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


class Server:
    """Files by path, and which of them were asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                content = server.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "group" / "bin").mkdir(parents=True)
    return tmp_path / "group"


def group(*assets: Asset) -> Group:
    return Group("anvil", "1.2.3", programs=(), gigabytes=0, minutes=0, assets=assets)


def fetch(wanted: Group, into: Path) -> None:
    releases = Releases(lambda: None)
    checksums = releases.checksums(wanted)
    assert checksums is not None
    releases.download(wanted, checksums, into)


def test_program_with_the_right_checksum_is_taken(server: Server, into: Path) -> None:
    server.files = {"/anvil-linux": PROGRAM, "/anvil-linux.sha256": sha256(PROGRAM).encode()}
    url = f"{server.url}/anvil-linux"
    fetch(group(Asset(url, f"{url}.sha256", program="anvil")), into)
    assert (into / "bin" / "anvil").read_bytes() == PROGRAM
    assert (into / "bin" / "anvil").stat().st_mode & 0o777 == 0o755
    assert not (into / "download").exists()


def test_members_of_an_archive_are_taken(server: Server, into: Path) -> None:
    content = archive(anvil=PROGRAM, anvilctl=b"ctl", readme=b"text")
    sums = f"{'0' * 64}  other.tar.gz\n{sha256(content)} *anvil.tar.gz\n"
    server.files = {"/anvil.tar.gz": content, "/SHA256SUMS": sums.encode()}
    members = ("anvil/anvil", "anvil/anvilctl")
    asset = Asset(f"{server.url}/anvil.tar.gz", f"{server.url}/SHA256SUMS", members=members)
    fetch(group(asset), into)
    assert sorted(file.name for file in (into / "bin").iterdir()) == ["anvil", "anvilctl"]


def test_wrong_checksum_is_an_error_and_nothing_is_unpacked(server: Server, into: Path) -> None:
    server.files = {"/anvil": PROGRAM, "/anvil.sha256": sha256(b"another").encode()}
    asset = Asset(f"{server.url}/anvil", f"{server.url}/anvil.sha256", program="anvil")
    with pytest.raises(
        LockstepError, match=f"{sha256(PROGRAM)}.*release says {sha256(b'another')}"
    ):
        fetch(group(asset), into)
    assert list((into / "bin").iterdir()) == []


def test_release_without_a_checksum_is_not_used(server: Server) -> None:
    server.files = {"/SHA256SUMS": f"{sha256(PROGRAM)}  other\n".encode(), "/anvil": PROGRAM}
    asset = Asset(f"{server.url}/anvil", f"{server.url}/SHA256SUMS", program="anvil")
    assert Releases(lambda: None).checksums(group(asset)) is None
    assert "/anvil" not in server.asked


def test_group_without_a_release_asks_nobody() -> None:
    assert Releases(lambda: None).checksums(group()) is None


def test_host_that_refuses_costs_nothing_and_is_asked_once(server: Server) -> None:
    asset = Asset(f"{server.url}/anvil", f"{server.url}/anvil.sha256", program="anvil")
    releases = Releases(lambda: None)
    began = time.monotonic()
    assert releases.checksums(group(asset)) is None
    assert releases.checksums(group(asset)) is None
    assert time.monotonic() - began < 1
    assert server.asked == ["/anvil.sha256"]


def test_unresolvable_host_is_no_release() -> None:
    asset = Asset("https://nowhere.invalid/anvil", "https://nowhere.invalid/sum", program="anvil")
    assert Releases(lambda: None).checksums(group(asset)) is None


def test_host_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/sum"
        began = time.monotonic()
        with pytest.raises(network.NoAnswerError):
            network.get(url, seconds=0.3)
        assert time.monotonic() - began < 2


def test_download_that_breaks_off_is_no_answer(server: Server, into: Path) -> None:
    server.files = {"/anvil.sha256": sha256(PROGRAM).encode()}
    asset = Asset(f"{server.url}/anvil", f"{server.url}/anvil.sha256", program="anvil")
    with pytest.raises(network.NoAnswerError):
        fetch(group(asset), into)


def test_slow_download_is_given_up(
    server: Server, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "SLOWEST", -1)
    server.files = {"/anvil": PROGRAM, "/anvil.sha256": sha256(PROGRAM).encode()}
    asset = Asset(f"{server.url}/anvil", f"{server.url}/anvil.sha256", program="anvil")
    with pytest.raises(network.NoAnswerError, match="takes too long"):
        fetch(group(asset), into)
