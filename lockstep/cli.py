"""The command line: each module of `lockstep.commands` is one subcommand."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from lockstep import commands
from lockstep.errors import LockstepError

CANNOT_TELL = 2
INTERRUPTED = 130


class Command(Protocol):
    """What a module of `lockstep.commands` offers."""

    HELP: str

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = _parser(words).parse_args(words)
    try:
        return cast("Command", args.command).run(args)
    except LockstepError as error:
        print(f"lockstep: {error}", file=sys.stderr)
        return CANNOT_TELL
    except KeyboardInterrupt:
        print("lockstep: interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; import only the subcommand that is asked for, as imports cost time."""
    parser = argparse.ArgumentParser(
        prog="python -m lockstep",
        description="Gang scheduling on Kubernetes that judges itself.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    names = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    wanted = [words[0]] if words and words[0] in names else names
    for name in wanted:
        command = cast("Command", importlib.import_module(f"lockstep.commands.{name}"))
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.configure(subparser)
        subparser.set_defaults(command=command)
    return parser
