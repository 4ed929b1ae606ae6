"""The toolchain: every program that the embedded cluster and Pulumi itself are run with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from lockstep.errors import LockstepError
from lockstep.toolchain import cache, catalogue, found
from lockstep.toolchain.environment import environment
from lockstep.toolchain.making import ensure

__all__ = ["chart", "ensure", "environment", "tool"]


def tool(name: str) -> Path:
    """The program to run: the user's own good one, or the cache's. It is never built here."""
    group = _group_of(name)
    if own := found.on_path(name):
        return own
    program = cache.program(group, name)
    if not program.is_file():
        remedy = f"python -m lockstep tools {group.option}" if group.option else "make tools"
        raise LockstepError(f"{name} is not in the toolchain yet; run `{remedy}`")
    return program


def chart(name: Literal["volcano", "lws"], version: str) -> Path | None:
    """The folder of a chart; None when the cache has none, and the published one is to be used."""
    group = catalogue.groups().get(f"lws-{version}" if name == "lws" else "volcano")
    if group is None or group.version != version:
        return None
    folder = cache.folder(group) / "charts" / name
    return folder if folder.is_dir() else None


def _group_of(name: str) -> catalogue.Group:
    for group in catalogue.groups().values():
        if any(program.name == name for program in group.programs):
            return group
    raise LockstepError(f"Lockstep knows no tool named {name}; `python -m lockstep tools --list`")
