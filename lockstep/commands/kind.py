"""`lockstep kind`: a kind cluster, made and removed; the Pulumi program calls this."""

from __future__ import annotations

import argparse
import json
import os

from lockstep.errors import LockstepError
from lockstep.local import kind

HELP = "create or delete a kind cluster (LOCKSTEP_CLUSTER, LOCKSTEP_KIND_CONFIG)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""
    parser.add_argument("action", choices=["create", "delete"])


def run(args: argparse.Namespace) -> int:
    """Print the cluster's kubeconfig as JSON once all nodes are ready."""
    name, config = os.environ.get("LOCKSTEP_CLUSTER"), os.environ.get("LOCKSTEP_KIND_CONFIG")
    if not name or not config:
        raise LockstepError("which cluster? set LOCKSTEP_CLUSTER and LOCKSTEP_KIND_CONFIG")
    if args.action == "create":
        print(json.dumps(kind.create(name, config)))
    else:
        kind.delete(name)
    return 0
