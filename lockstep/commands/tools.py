"""`python -m lockstep tools`: fetch or build the toolchain, list it, remove it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex

import toolchain
from lockstep import versions
from toolchain import cache, catalogue
from toolchain.inventory import inventory
from toolchain.making import default_groups
from toolchain.removing import clean

HELP = "fetch or build what the embedded cluster and Pulumi need; list it; remove it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="show what is used, and from where")
    what.add_argument("--clean", action="store_true", help="remove the toolchain and build caches")
    what.add_argument(
        "--export", action="store_true", help="make what is absent, then print shell exports"
    )
    parser.add_argument("--json", action="store_true", help="print what is used as JSON")
    others = [version for version in versions.LWS_SUPPORTED if version != versions.LWS_DEFAULT]
    parser.add_argument(
        "--lws",
        action="append",
        default=[],
        choices=others,
        help="also make this version of LWS (may be repeated)",
    )
    parser.add_argument("--kind", action="store_true", help="also make kind")
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        choices=list(catalogue.groups()),
        help="make only this group (may be repeated)",
    )
    parser.add_argument(
        "--keep-build-cache",
        action="store_true",
        help="keep Go's caches (several GB), so that the next build after a change is quick",
    )


def run(args: argparse.Namespace) -> int:
    """Do what the options say; without any, make present what is absent."""
    if args.clean:
        clean()
        return 0
    if not args.list:
        toolchain.ensure(_groups(args), keep_build_cache=args.keep_build_cache)
    if args.export:
        for name, value in toolchain.environment().items():
            print(f"export {name}={shlex.quote(value)}")
    elif args.json:
        print(json.dumps([dataclasses.asdict(item) for item in inventory()], indent=2))
    elif args.list:
        _print_table()
    else:
        print(f"The toolchain is complete, in {cache.root()}; --list shows what is used.")
    return 0


def _groups(args: argparse.Namespace) -> list[str]:
    extra = [f"lws-{version}" for version in args.lws] + (["kind"] if args.kind else [])
    return [*(args.group or default_groups()), *extra]


def _print_table() -> None:
    rows = [("TOOL", "VERSION", "SOURCE", "PATH")]
    rows += [(item.name, item.version, item.source, item.path) for item in inventory()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)),
            row[3],
            sep="  ",
        )
