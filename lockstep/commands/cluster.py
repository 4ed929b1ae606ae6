"""`lockstep cluster`: the embedded cluster, made and removed; the Pulumi program calls this."""

from __future__ import annotations

import argparse
import json
import os

from lockstep.errors import LockstepError
from lockstep.local import control_plane as cluster

HELP = "create or delete an embedded cluster"


def configure(parser: argparse.ArgumentParser) -> None:
    """Name comes by option or, from Pulumi, by environment: never through shell text."""
    parser.add_argument("action", choices=["create", "delete"])
    parser.add_argument("--name", default=os.environ.get("LOCKSTEP_CLUSTER"))
    parser.add_argument("--id", default=os.environ.get("LOCKSTEP_INCARNATION", "by-hand"))


def run(args: argparse.Namespace) -> int:
    """Print the cluster as JSON once it serves."""
    if not args.name:
        raise LockstepError("which cluster? give --name")
    if args.action == "create":
        print(json.dumps(cluster.create(args.name, args.id).describe()))
    else:
        cluster.delete(args.name)
    return 0
