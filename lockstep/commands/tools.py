"""`lockstep tools`: download or build the toolchain, list it, remove it."""

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import toolchain
from lockstep import versions
from toolchain import building, cache, catalogue, users_tools
from toolchain.catalogue import Group
from toolchain.making import default_groups

HELP = "download or build what the embedded cluster and Pulumi need; list it; remove it"


ON_DEMAND = (
    ("volcano", "Volcano", versions.VOLCANO_SUPPORTED),
    ("lws", "LWS", versions.LWS_SUPPORTED),
)
"""The options for versions beside the default, with the supported ones."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="show each tool's version and source")
    action.add_argument("--clean", action="store_true", help="remove the toolchain and its caches")
    action.add_argument(
        "--export", action="store_true", help="make what is missing, then print shell exports"
    )
    parser.add_argument("--json", action="store_true", help="print the list of tools as JSON")
    for option, name, supported in ON_DEMAND:
        parser.add_argument(
            f"--{option}",
            action="append",
            default=[],
            choices=supported,
            help=f"also make this version of {name} (may be repeated)",
        )
    parser.add_argument("--kind", action="store_true", help="also make kind")
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        choices=list(catalogue.groups()),
        help="make only this group of tools (may be repeated)",
    )
    parser.add_argument(
        "--keep-build-cache",
        action="store_true",
        help="keep Go's caches (several GB), so that the next build after a change is quick",
    )


def run(args: argparse.Namespace) -> int:
    """Do what the options say; without any, make what is missing."""
    if args.clean:
        cache.clean()
        return 0
    if not args.list:
        toolchain.ensure(_groups(args), keep_build_cache=args.keep_build_cache)
    if args.export:
        for name, value in toolchain.environment().items():
            print(f"export {name}={shlex.quote(value)}")
    elif args.json:
        print(json.dumps([asdict(item) for item in _items()], indent=2))
    elif args.list:
        _print_table()
    else:
        print(f"The toolchain is complete, in {cache.root()}; --list shows every tool.")
    return 0


def _groups(args: argparse.Namespace) -> list[str]:
    extra = [f"{option}-{each}" for option, *_ in ON_DEMAND for each in getattr(args, option)]
    extra += ["kind"] if args.kind else []
    return list(dict.fromkeys([*(args.group or default_groups()), *extra]))


@dataclass(frozen=True)
class Item:
    """A tool or chart in the list."""

    name: str
    version: str
    source: str
    """`yours` (PATH or your Pulumi home), `release` (downloaded), `built`, or `absent`."""
    built_from: str
    """The Go module and version that a built tool was compiled from; else empty."""
    path: str
    """The tool's path; for an absent tool, the command that makes it."""


def _items() -> list[Item]:
    return [item for group in catalogue.groups().values() for item in _items_of(group)]


def _items_of(group: Group) -> Iterator[Item]:
    source = cache.source(group) if cache.is_present(group) else "absent"
    home = users_tools.pulumi_home()
    for program in group.programs:
        own = users_tools.on_path(program.name)
        if group.name in users_tools.PLUGINS and users_tools.has_plugins(home):
            own = users_tools.plugin_path(home, group.name)
        if own:
            yield Item(program.name, group.version, "yours", "", str(own))
        else:
            code = building.built_from(program) if source == "built" else ""
            path = group.command if source == "absent" else str(cache.program(group, program.name))
            yield Item(program.name, group.version, source, code, path)
    for piece in group.copies:
        if piece.target.startswith("charts/"):
            path = group.command if source == "absent" else str(cache.folder(group) / piece.target)
            yield Item(piece.target.replace("charts/", "chart "), group.version, source, "", path)


def _print_table() -> None:
    rows = [("TOOL", "VERSION", "SOURCE", "BUILT FROM", "PATH")]
    rows += [
        (item.name, item.version, item.source, item.built_from, item.path) for item in _items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
