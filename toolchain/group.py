"""What a group of tools is described by, and the platform that it is for."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from lockstep.errors import LockstepError

ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}

MAKE_TOOLS = "make tools"
TOOLS = "python -m lockstep tools"


@dataclass(frozen=True)
class Program:
    """An executable, and the Go package that it is built from."""

    name: str
    module: str
    """The folder of modules/ whose go.mod pins the package."""
    package: str
    variables: tuple[str, ...] = ()
    """`path=value` pairs for the linker, so that the program knows its version."""


@dataclass(frozen=True)
class Copy:
    """A file or folder taken from a downloaded Go module."""

    module: str
    """The folder of modules/ whose go.mod pins the Go module."""
    go_module: str
    source: str
    target: str


@dataclass(frozen=True)
class Asset:
    """One file of an official release."""

    url: str
    checksums: str
    """Where the release publishes the file's SHA-256: the bare sum, or lines of sum and name."""
    program: str = ""
    """The program that the file is; empty when it is an archive."""
    members: tuple[str, ...] = ()
    """What to take from the archive."""


@dataclass(frozen=True)
class Group:
    """What is made, kept and replaced together."""

    name: str
    version: str
    programs: tuple[Program, ...]
    gigabytes: float
    """Disk that a build needs while it runs, estimated generously."""
    minutes: float = 1
    """What a build takes on 2 cores, roughly."""
    embeds: tuple[Copy, ...] = ()
    """Files that must be beside the program's source before it is built."""
    copies: tuple[Copy, ...] = ()
    """Files that belong to the group besides its programs."""
    assets: tuple[Asset, ...] = ()
    """The official release, where there is one with checksums."""
    command: str = MAKE_TOOLS
    """What makes it."""

    @property
    def is_default(self) -> bool:
        """Whether the default stack needs it."""
        return self.command == MAKE_TOOLS

    @property
    def modules(self) -> tuple[str, ...]:
        """The folders of modules/ that the group is built from."""
        built = (program.module for program in self.programs)
        copied = (copy.module for copy in (*self.embeds, *self.copies))
        return tuple(dict.fromkeys((*built, *copied)))


def system() -> str:
    """The operating system, in Go's words."""
    return platform.system().lower()


def architecture() -> str:
    """The processor, in Go's words."""
    machine = platform.machine().lower()
    if machine not in ARCHITECTURES:
        raise LockstepError(f"the processor {machine} is not supported; use amd64 or arm64")
    return ARCHITECTURES[machine]


def github_release(repository: str, version: str) -> str:
    """Where a project on GitHub publishes a version's files."""
    return f"https://github.com/{repository}/releases/download/v{version}"
