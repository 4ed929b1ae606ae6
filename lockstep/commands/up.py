"""`lockstep up`: deploy one stack, with whatever that needs."""

from __future__ import annotations

import argparse

import toolchain
from lockstep.walk.stack import Stack

HELP = "deploy a stack: tools, cluster, platform, scenario and verdict"


def configure(parser: argparse.ArgumentParser) -> None:
    """The stack's name is all that is needed."""
    parser.add_argument("stack", help="a stack of stacks/, such as gang")


def run(args: argparse.Namespace) -> int:
    """Exit with Pulumi's own code: 0 only when every verdict is as expected."""
    toolchain.ensure()
    stack = Stack(args.stack)
    stack.select()
    return stack.up(check=False).returncode
