"""The command line `lockstep`: one subcommand per module of `lockstep.commands`."""

import argparse
import importlib
import sys
from collections.abc import Sequence

from lockstep.errors import LockstepError

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130

FOR_PEOPLE = ("demo", "up", "down", "verify", "report", "matrix", "tools")
OTHERS = ("step", "kind-image")
"""Commands that `--help` does not list: the Pulumi program or `make` runs them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    args = _parser(words).parse_args(words)
    try:
        return int(args.run(args))
    except LockstepError as error:
        _print_error(error, str(error))
        return EXIT_ERROR
    except KeyboardInterrupt as error:
        _print_error(error, "interrupted")
        return EXIT_INTERRUPTED


def _print_error(error: BaseException, reason: str) -> None:
    """Print the reason in a line, then the notes: where to look, and what to do next."""
    for line in (f"lockstep: {reason}", *getattr(error, "__notes__", ())):
        print(line, file=sys.stderr)


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser; import only the command that is asked for, as imports take time."""
    parser = argparse.ArgumentParser(
        prog="lockstep",
        description="Gang scheduling on Kubernetes, with a pass/fail check in `pulumi up`.",
        epilog="`lockstep COMMAND --help` explains a command; `lockstep step --help` lists the "
        "steps that the Pulumi program runs.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    asked_for = words[0] if words else ""
    names = (asked_for,) if asked_for in (*FOR_PEOPLE, *OTHERS) else FOR_PEOPLE
    for name in names:
        command = importlib.import_module(f"lockstep.commands.{name.replace('-', '_')}")
        subparser = subparsers.add_parser(name, help=command.HELP, description=command.HELP)
        command.configure(subparser)
        subparser.set_defaults(run=command.run)
    return parser
