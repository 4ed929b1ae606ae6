"""The toolchain: every program that the embedded cluster and Pulumi itself are run with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, found
from toolchain.environment import environment
from toolchain.group import Group

if TYPE_CHECKING:
    from toolchain.progress import Progress

__all__ = ["chart", "ensure", "environment", "link_charts", "tool"]


def tool(name: str) -> Path:
    """The program to run: the user's own good one, or the cache's. It is never built here."""
    group = _group_of(name)
    if own := found.on_path(name):
        return own
    program = cache.program(group, name)
    if not program.is_file():
        raise LockstepError(f"{name} is not in the toolchain yet; run `{group.command}`")
    return program


def chart(name: Literal["volcano", "lws"], version: str) -> Path | None:
    """The folder of a chart; None when the cache has none, and the published one is to be used."""
    group = catalogue.groups().get(f"lws-{version}" if name == "lws" else "volcano")
    if group is None or group.version != version:
        return None
    folder = cache.folder(group) / "charts" / name
    return folder if folder.is_dir() else None


def link_charts(folder: Path) -> None:
    """Make `folder`/volcano-<version> and `folder`/lws-<version> links to the cached charts.

    The links have stable names, so a stack's plan can name them: the names of the cache's folders
    change with every change of a pinned module. A link to a chart that is not cached is removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    charts: list[tuple[Literal["volcano", "lws"], str]] = [("volcano", versions.VOLCANO)]
    charts += [("lws", version) for version in versions.LWS_SUPPORTED]
    for name, version in charts:
        link = folder / f"{name}-{version}"
        if target := chart(name, version):
            cache.link(link, target)
        else:
            link.unlink(missing_ok=True)


def ensure(
    groups: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    keep_build_cache: bool = False,
) -> None:
    """Make present what is absent of these groups; the default set when none are named."""
    # Every `pulumi up` imports this package, and few need to make anything.
    from toolchain import making

    making.ensure(groups, progress, keep_build_cache=keep_build_cache)


def _group_of(name: str) -> Group:
    for group in catalogue.groups().values():
        if any(program.name == name for program in group.programs):
            return group
    raise LockstepError(f"there is no tool named {name}; see `python -m lockstep tools --list`")
