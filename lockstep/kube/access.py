"""The cluster that the Pulumi program names in a command's environment."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from lightkube import Client

from lockstep.errors import LockstepError
from lockstep.kube import client as kube

KUBECONFIG = "LOCKSTEP_KUBECONFIG"
CONTEXT = "LOCKSTEP_CONTEXT"


def client() -> Client:
    """Connect to LOCKSTEP_KUBECONFIG, in LOCKSTEP_CONTEXT if that is set."""
    path = os.environ.get(KUBECONFIG)
    if not path:
        raise LockstepError(f"which cluster? set {KUBECONFIG} to a kubeconfig file")
    return kube.client(path, os.environ.get(CONTEXT) or None)


@contextlib.contextmanager
def cluster() -> Iterator[Client]:
    """Connect, and turn whatever goes wrong between here and the cluster into one line."""
    connected = client()
    try:
        yield connected
    except kube.FAILURES as error:
        said = str(error) or type(error).__name__
        raise LockstepError(f"the cluster does not do as asked: {said}") from error
