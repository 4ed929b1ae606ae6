"""`lockstep nodes`: choose the workers of a pool; the Pulumi program calls this."""

from __future__ import annotations

import argparse
import json
import os

from lockstep.errors import LockstepError
from lockstep.kube import access, nodes

HELP = "choose the workers of a pool (LOCKSTEP_POOL, LOCKSTEP_POOL_SIZE) on a real cluster"


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the workers, with what is free on each, as JSON."""
    try:
        pool, size = os.environ["LOCKSTEP_POOL"], int(os.environ["LOCKSTEP_POOL_SIZE"])
    except (KeyError, ValueError) as error:
        raise LockstepError(
            "which pool? set LOCKSTEP_POOL to its name and LOCKSTEP_POOL_SIZE to a number"
        ) from error
    with access.cluster() as client:
        chosen = nodes.choose(nodes.read(client), pool, size)
    print(json.dumps({"workers": [node.worker() for node in chosen]}))
    return 0
