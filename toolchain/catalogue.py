"""The groups of programs.toml, for this platform."""

import functools
import platform
import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import msgspec

from lockstep import versions
from lockstep.errors import LockstepError

TABLE = Path(__file__).with_name("programs.toml")
ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
DEFAULT_COMMAND = "make tools"


@dataclass(frozen=True)
class Program:
    """An executable and the Go package that it is built from."""

    name: str
    module: str
    package: str
    variables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Copy:
    """A file or folder that is copied from a downloaded Go module."""

    module: str
    go_module: str
    source: str
    target: str


@dataclass(frozen=True)
class Release:
    """A file of an official release: the program itself, or an archive that has the programs."""

    url: str
    checksum: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Programs and files that are cached and replaced together; programs.toml has the fields."""

    name: str
    version: str
    programs: tuple[Program, ...]
    embeds: tuple[Copy, ...] = ()
    copies: tuple[Copy, ...] = ()
    release: Release | None = None
    command: str = DEFAULT_COMMAND

    @property
    def modules(self) -> tuple[str, ...]:
        """The folders of modules/ that the group is built from."""
        pieces: tuple[Program | Copy, ...] = (*self.programs, *self.embeds, *self.copies)
        return tuple(dict.fromkeys(piece.module for piece in pieces))


def platform_name() -> str:
    """The operating system and the processor by Go's names, such as linux-amd64."""
    machine = platform.machine().lower()
    if machine not in ARCHITECTURES:
        raise LockstepError(f"the processor {machine} is not supported; use amd64 or arm64")
    return f"{platform.system().lower()}-{ARCHITECTURES[machine]}"


def groups() -> dict[str, Group]:
    """Every group by its name, in the order in which they are built."""
    return _groups(platform_name())


@functools.cache
def _groups(platform: str) -> dict[str, Group]:
    text = Template(TABLE.read_text()).substitute(vars(versions), platform=platform)
    return {name: _group(name, entry, platform) for name, entry in tomllib.loads(text).items()}


def _group(name: str, entry: dict[str, Any], platform: str) -> Group:
    module, variables = entry.get("module", name), entry.get("variables", [])
    for program in entry["programs"]:
        program.setdefault("variables", variables)
    for piece in (*entry["programs"], *entry.get("embeds", ()), *entry.get("copies", ())):
        piece.setdefault("module", module)
    release = entry.get("release", {})
    checksum = release.get("checksums", {}).get(platform)
    described = {**entry, "name": name, "release": None}
    if checksum:
        described["release"] = {**release, "checksum": checksum}
    return msgspec.convert(described, Group)
