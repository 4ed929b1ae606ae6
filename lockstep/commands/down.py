"""`lockstep down`: destroy one stack and all that belongs to it."""

import argparse
import json

from lockstep.walk import terminal
from lockstep.walk.stack import Removal, Stack

HELP = "destroy a stack: its resources, processes, folders and state"


def configure(parser: argparse.ArgumentParser) -> None:
    """Take the name of a stack."""
    parser.add_argument("stack", help="a stack in stacks/, such as gang")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    """Destroy; a stack that does not exist is no error."""
    console = terminal.make_console(stderr=args.json)
    stack = Stack(args.stack)
    stack.write_config()
    with terminal.live_view(console) as on_progress:
        removal = stack.down(on_progress)
    stack.forget()
    if args.json:
        result = {
            "stack": stack.name,
            "existed": removal.resources is not None,
            "resources": removal.resources or 0,
            "processes": removal.processes,
        }
        print(json.dumps(result))
    console.print(_describe(stack.name, removal), highlight=False)
    return 0


def _describe(name: str, removal: Removal) -> str:
    left = f" and {removal.processes} processes" if removal.processes else ""
    if removal.resources is not None:
        return f"removed the stack {name}: {removal.resources} resources{left}"
    if left:
        return f"the stack {name} does not exist; removed{left.removeprefix(' and')}"
    return f"the stack {name} does not exist; nothing was left to remove"
