"""Downloading official releases whose checksum is pinned in programs.toml."""

import hashlib
import shutil
import tarfile
import tempfile
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import IO

from toolchain.catalogue import Group, Release

TIMEOUT = 20  # seconds without data


class ReleaseError(Exception):
    """A release that cannot be used; the message says why. The group is built instead."""


def download(group: Group, release: Release, folder: Path) -> None:
    """Put the programs of the group's release into `folder`/bin."""
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            with urllib.request.urlopen(release.url, timeout=TIMEOUT) as answer:  # noqa: S310
                shutil.copyfileobj(answer, file)
        except (OSError, HTTPException) as error:
            raise ReleaseError(f"{release.url}: {error}") from error
        file.seek(0)
        algorithm = {64: "sha256", 128: "sha512"}[len(release.checksum)]
        checksum = hashlib.file_digest(file, algorithm).hexdigest()
        if checksum != release.checksum:
            raise ReleaseError(f"{release.url} has the checksum {checksum}, which is not pinned")
        file.seek(0)
        if release.members:
            _unpack(release, file, folder / "bin")
        else:
            _write(file, folder / "bin" / group.programs[0].name)


def _unpack(release: Release, file: IO[bytes], into: Path) -> None:
    with tarfile.open(fileobj=file) as archive:
        files = {member.name: member for member in archive if member.isfile()}
        for name in release.members:
            stream = archive.extractfile(files[name]) if name in files else None
            if stream is None:
                raise ReleaseError(f"{release.url} has no file {name}")
            _write(stream, into / Path(name).name)


def _write(stream: IO[bytes], target: Path) -> None:
    with target.open("wb") as file:
        shutil.copyfileobj(stream, file)
    target.chmod(0o755)
