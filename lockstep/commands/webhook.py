"""`lockstep webhook`: wait until the webhook of LWS answers; the Pulumi program calls this."""

from __future__ import annotations

import argparse

from lockstep.kube import access
from lockstep.lws import webhook as lws_webhook

HELP = "wait until the API server reaches the webhook of LWS"


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""


def run(args: argparse.Namespace) -> int:  # noqa: ARG001
    """Return once a LeaderWorkerSet could be created."""
    with access.cluster() as client:
        lws_webhook.await_answers(client)
    return 0
