"""What is used, and from where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolchain import cache, catalogue, found, homes
from toolchain.group import Group


@dataclass(frozen=True)
class Item:
    """One tool or chart."""

    name: str
    version: str
    source: str
    """`yours` (PATH or your Pulumi home), `release` (downloaded), `built`, or `absent`."""
    path: str
    """Where it is; for an absent one, the command that makes it."""


def inventory() -> list[Item]:
    """Everything the toolchain consists of."""
    return [item for group in catalogue.groups().values() for item in _items(group)]


def _items(group: Group) -> Iterator[Item]:
    present = cache.is_present(group)
    source = cache.source(group) if present else "absent"
    for program in group.programs:
        own = found.on_path(program.name)
        if group.name in found.PLUGINS and found.has_plugins(homes.users_own()):
            own = found.plugin_path(homes.users_own(), group.name)
        path = str(cache.program(group, program.name)) if present else group.command
        yield Item(program.name, group.version, "yours" if own else source, str(own or path))
    for piece in group.copies:
        if piece.target.startswith("charts/"):
            path = str(cache.folder(group) / piece.target) if present else group.command
            name = f"chart {piece.target.removeprefix('charts/')}"
            yield Item(name, group.version, "built" if present else "absent", path)
