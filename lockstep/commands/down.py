"""`lockstep down`: destroy one stack and leave nothing behind."""

from __future__ import annotations

import argparse

from lockstep.walk.stack import Stack

HELP = "destroy a stack: resources, processes, folders and its state"


def configure(parser: argparse.ArgumentParser) -> None:
    """The stack's name is all that is needed."""
    parser.add_argument("stack", help="a stack of stacks/, such as gang")


def run(args: argparse.Namespace) -> int:
    """Nothing to destroy is fine, too."""
    Stack(args.stack).down()
    return 0
