"""`lockstep operators`: Volcano or LWS beside an embedded cluster; called by the Pulumi program."""

from __future__ import annotations

import argparse
import os

from lockstep.errors import LockstepError
from lockstep.local import control_plane as cluster
from lockstep.local import operators

HELP = "start Volcano or LWS beside an embedded cluster, or restart it on changed configuration"


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by option or, from Pulumi, by environment: never through shell text."""
    parser.add_argument("--cluster", default=os.environ.get("LOCKSTEP_CLUSTER"))
    parser.add_argument("--operator", default=os.environ.get("LOCKSTEP_OPERATOR"))
    parser.add_argument("--version", default=os.environ.get("LOCKSTEP_VERSION", ""))


def run(args: argparse.Namespace) -> int:
    """Return once the operator is healthy."""
    if not args.cluster or args.operator not in operators.OPERATORS:
        known = ", ".join(sorted(operators.OPERATORS))
        raise LockstepError(f"give --cluster and --operator (one of {known})")
    operators.start(cluster.load(args.cluster), args.operator, args.version)
    return 0
