"""The programs that the embedded cluster and Pulumi need: found, downloaded or built."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, users_tools
from toolchain.environment import environment

__all__ = ["chart", "ensure", "environment", "link_charts", "tool"]


def tool(name: str) -> Path:
    """The path of a program: the user's own if its version is good, else the cached one."""
    if own := users_tools.on_path(name):
        return own
    for group in catalogue.groups().values():
        if any(program.name == name for program in group.programs):
            program = cache.program(group, name)
            if not program.is_file():
                raise LockstepError(f"{name} is not in the toolchain yet; run `{group.command}`")
            return program
    raise LockstepError(f"there is no tool named {name}; see `lockstep tools --list`")


def chart(name: Literal["volcano", "lws"], version: str) -> Path | None:
    """The folder of a cached chart; None when the cache does not have this version."""
    group = catalogue.groups().get(f"lws-{version}" if name == "lws" else "volcano")
    if group is None or group.version != version:
        return None
    folder = cache.folder(group) / "charts" / name
    return folder if folder.is_dir() else None


def link_charts(folder: Path) -> None:
    """Make `folder`/volcano-<version> and `folder`/lws-<version> links to the cached charts.

    A stack's plan names these links, as the names of the cache's folders change with every pin.
    """
    folder.mkdir(parents=True, exist_ok=True)
    charts = {f"volcano-{each}": chart("volcano", each) for each in versions.VOLCANO_SUPPORTED}
    charts |= {f"lws-{each}": chart("lws", each) for each in versions.LWS_SUPPORTED}
    for name, target in charts.items():
        if target:
            cache.link(folder / name, target)
        else:
            (folder / name).unlink(missing_ok=True)


def ensure(groups: Sequence[str] | None = None, *, keep_build_cache: bool = False) -> None:
    """Download or build what is missing of these groups, or of the default groups."""
    from toolchain import making  # most commands only look tools up, and start quicker without

    making.ensure(groups, keep_build_cache=keep_build_cache)
    with contextlib.suppress(LockstepError):  # outside of a project no plan names a chart
        link_charts(paths.state_dir() / "charts")
