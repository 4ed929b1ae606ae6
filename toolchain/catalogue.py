"""The groups of programs.toml, for this platform."""

import functools
import platform
import re
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
MAJOR_VERSION = re.compile(r"v\d+")


@dataclass(frozen=True)
class Program:
    """An executable and the Go package that it is built from."""

    name: str
    module: str
    package: str
    variables: tuple[str, ...] = ()
    code: str = ""

    @property
    def executable(self) -> str:
        """The name that `go build` gives the program."""
        if self.package == ".":
            return self.module
        *parents, last = self.package.split("/")
        return parents[-1] if MAJOR_VERSION.fullmatch(last) else last


@dataclass(frozen=True)
class Copy:
    """A file or folder that is copied from a downloaded Go module: for builds, or to be cached."""

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
    """Programs and files that are cached and replaced together; programs.toml has the fields.

    `embeds` are those of all its modules.
    """

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

    @property
    def built_modules(self) -> tuple[str, ...]:
        """The folders of modules/ that have the group's programs."""
        return tuple(dict.fromkeys(program.module for program in self.programs))


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
    entries = tomllib.loads(text)
    embeds = entries.pop("embeds")
    return {name: _group(name, entry, embeds, platform) for name, entry in entries.items()}


def _group(
    name: str, entry: dict[str, Any], embeds: dict[str, list[dict[str, str]]], platform: str
) -> Group:
    module, variables = entry.get("module", name), entry.get("variables", [])
    for program in entry["programs"]:
        program.setdefault("variables", variables)
    for piece in (*entry["programs"], *entry.get("copies", ())):
        piece.setdefault("module", module)
    modules = dict.fromkeys(program["module"] for program in entry["programs"])
    release = entry.get("release", {})
    checksum = release.get("checksums", {}).get(platform)
    described = {**entry, "name": name, "release": None}
    described["embeds"] = [
        {"module": each, **embed} for each in modules for embed in embeds.get(each, ())
    ]
    if checksum:
        described["release"] = {**release, "checksum": checksum}
    return msgspec.convert(described, Group)
