"""The programs that the embedded cluster and Pulumi need: found, downloaded or built."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from lockstep import paths
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, users_tools
from toolchain.environment import environment

__all__ = ["charts", "ensure", "environment", "link_charts", "tool"]


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


def charts() -> dict[str, Path]:
    """Where the cache keeps each chart, by names such as lws-0.8.0; a chart may be absent."""
    return {
        f"{Path(piece.target).name}-{group.version}": cache.folder(group) / piece.target
        for group in catalogue.groups().values()
        for piece in group.copies
        if piece.target.startswith("charts/")
    }


def link_charts(folder: Path) -> None:
    """Make links in `folder` to the charts in the cache, as a stack's plan names the links.

    The names of the cache's folders change with every pin.
    """
    for name, chart in charts().items():
        if chart.is_dir():
            cache.link(folder / name, chart)
        else:
            (folder / name).unlink(missing_ok=True)


def ensure(groups: Sequence[str] | None = None, *, keep_build_cache: bool = False) -> None:
    """Download or build what is missing of these groups, or of the default groups."""
    from toolchain import making  # most commands only look tools up, and start quicker without

    making.ensure(groups, keep_build_cache=keep_build_cache)
    with contextlib.suppress(LockstepError):  # outside of a project no plan names a chart
        link_charts(paths.state_dir() / "charts")
