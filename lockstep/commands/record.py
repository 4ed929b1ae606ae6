"""`lockstep record`: start the recorder of a scenario in the background, or end it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recording
from lockstep.recording.client import Subject

HELP = "record what happens to a scenario, in the background (the Pulumi program calls this)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Each option has a default from the environment: the Pulumi program sets that."""
    add_subject(parser)
    parser.add_argument(
        "--stop", action="store_true", help="end the recorder; no harm if none runs"
    )
    parser.add_argument("--serve", metavar="FILE", type=Path, help=argparse.SUPPRESS)


def add_subject(parser: argparse.ArgumentParser) -> None:
    """Options that say what to record."""
    for name, meaning in (
        ("cluster", "name of the cluster, under which its recordings are kept"),
        ("scenario", "name of the scenario and of its recording"),
        ("namespace", "namespace to watch"),
        ("pool", "worker pool to watch"),
        ("kubeconfig", "kubeconfig file of the cluster"),
        ("context", "context in it, if not its current one"),
    ):
        variable = f"LOCKSTEP_{name.upper()}"
        parser.add_argument(
            f"--{name}", default=os.environ.get(variable) or None, help=f"{meaning} [{variable}]"
        )
    parser.add_argument(
        "--deadline",
        type=float,
        default=recorder_process.DEADLINE,
        help="seconds after which the recorder ends by itself (default %(default)s)",
    )


def subject(args: argparse.Namespace, path: Path | None = None) -> Subject:
    """Take what to record from the options."""
    needed = ("scenario", "namespace", "pool", "kubeconfig", *(() if path else ("cluster",)))
    for name in needed:
        if not getattr(args, name):
            raise LockstepError(f"what to record? pass --{name} or set LOCKSTEP_{name.upper()}")
    return Subject(
        path=path or recording.path_of(args.cluster, args.scenario).resolve(),
        scenario=args.scenario,
        namespace=args.namespace,
        pool=args.pool,
        kubeconfig=args.kubeconfig,
        context=args.context,
        deadline=args.deadline,
    )


def run(args: argparse.Namespace) -> int:
    """Start, stop, or be the recorder."""
    if args.serve:
        from lockstep.recording import (
            daemon as recorder_server,  # imports the client, which the others do not need
        )

        recorder_server.serve(subject(args, args.serve))
        return 0
    wanted = subject(args)
    if args.stop:
        recorder_process.remove(wanted.path)
        return 0
    print(json.dumps(recorder_process.start(wanted)))
    return 0
