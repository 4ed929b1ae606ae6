"""`lockstep taint`: block workers of a pool and unblock them; the Pulumi program calls this."""

from __future__ import annotations

import argparse
import json
import os

from lockstep.errors import LockstepError
from lockstep.kube import access, taints

HELP = "block or unblock workers (LOCKSTEP_NODES, LOCKSTEP_BLOCKED, LOCKSTEP_POOL)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""
    parser.add_argument("action", choices=["apply", "remove"])


def run(args: argparse.Namespace) -> int:
    """Change the nodes' taints and name the blocked ones."""
    try:
        nodes: list[str] = json.loads(os.environ["LOCKSTEP_NODES"])
        blocked = int(os.environ["LOCKSTEP_BLOCKED"])
    except (KeyError, ValueError) as error:
        raise LockstepError(
            "which workers? set LOCKSTEP_NODES to a JSON list and LOCKSTEP_BLOCKED to a number"
        ) from error
    with access.cluster() as client:
        if args.action == "remove":
            taints.remove(client, nodes)
        else:
            taints.apply(client, nodes, blocked, os.environ.get("LOCKSTEP_POOL") or "lockstep")
            print(json.dumps({"blocked": nodes[:blocked]}))
    return 0
