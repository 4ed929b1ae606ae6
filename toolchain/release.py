"""Official releases: downloaded where they can be reached, and used if their checksum is right."""

from __future__ import annotations

import hashlib
import re
import tarfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO

from lockstep.errors import LockstepError
from toolchain import network
from toolchain.group import Asset, Group

READ_TIMEOUT = 20
SLOWEST = 900
"""Seconds that one file may take; building it is about as quick."""
CHUNK = 1 << 20

SHA256 = re.compile(r"\b[0-9a-fA-F]{64}\b")


class Releases:
    """The release hosts of one run: a host that once failed is not asked again."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._silent: set[str] = set()

    def checksums(self, group: Group) -> list[str] | None:
        """What the group's release says its files must be; None when it cannot be reached."""
        if not group.assets:
            return None
        try:
            return [self._checksum(asset) for asset in group.assets]
        except network.NoAnswerError:
            return None

    def _checksum(self, asset: Asset) -> str:
        host = urllib.parse.urlsplit(asset.checksums).netloc
        if host in self._silent:
            raise network.NoAnswerError
        try:
            text = network.get(asset.checksums).decode(errors="replace")
        except network.NoAnswerError:
            self._silent.add(host)
            raise
        return checksum(text, asset.url.rsplit("/", 1)[1])

    def download(self, group: Group, checksums: list[str], into: Path) -> str:
        """Put the group's programs into `into`/bin; NoAnswerError when the server gives up."""
        for asset, expected in zip(group.assets, checksums, strict=True):
            file = into / "download"
            actual = self._download(asset.url, file)
            if actual != expected:
                raise LockstepError(
                    f"{asset.url} has the SHA-256 {actual}, but its release says {expected}: try "
                    "again, and if it stays so, tell the project that publishes it"
                )
            _unpack(asset, file, into / "bin")
            file.unlink()
        return "release"

    def _download(self, url: str, file: Path) -> str:
        """Save the file and return its SHA-256."""
        digest = hashlib.sha256()
        give_up = time.monotonic() + SLOWEST
        with (
            network.no_answer_for_errors(),
            urllib.request.urlopen(url, timeout=READ_TIMEOUT) as answer,  # noqa: S310
            file.open("wb") as target,
        ):
            while chunk := answer.read(CHUNK):
                if time.monotonic() > give_up:
                    raise network.NoAnswerError(f"{url} takes too long")
                digest.update(chunk)
                _write(target, chunk)
                self._tick()
        return digest.hexdigest()


def _write(target: IO[bytes], chunk: bytes) -> None:
    try:
        target.write(chunk)
    except OSError as error:  # not the server's fault, so not to be taken for its silence
        raise LockstepError(
            f"cannot write {target.name}: {error.strerror}; free some space, or set LOCKSTEP_CACHE "
            "to a folder on a larger disk"
        ) from error


def checksum(text: str, name: str) -> str:
    """The SHA-256 of the file `name`, from a bare sum or from lines of sum and name."""
    for line in text.splitlines():
        words = line.replace("*", " ").split()
        if words and SHA256.fullmatch(words[0]) and words[1:] in ([], [name]):
            return words[0].lower()
    raise network.NoAnswerError(f"no checksum of {name} is published")


def _unpack(asset: Asset, file: Path, folder: Path) -> None:
    if asset.program:
        _place(file.read_bytes(), folder / asset.program)
        return
    with tarfile.open(file) as archive:
        for member in asset.members:
            stream = archive.extractfile(member.removeprefix("./"))
            if stream is None:
                raise LockstepError(f"{asset.url} has no file {member}; report this to Lockstep")
            _place(stream.read(), folder / Path(member).name)


def _place(content: bytes, target: Path) -> None:
    target.write_bytes(content)
    target.chmod(0o755)
