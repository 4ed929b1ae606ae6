"""A Kubernetes client from what the Pulumi program puts into a command's environment."""

from __future__ import annotations

import os

from lightkube import Client, KubeConfig
from lightkube.core.exceptions import ConfigError

from lockstep.errors import LockstepError

KUBECONFIG = "LOCKSTEP_KUBECONFIG"
CONTEXT = "LOCKSTEP_CONTEXT"
FIELD_MANAGER = "lockstep"


def client() -> Client:
    """Connect to the cluster of LOCKSTEP_KUBECONFIG, in LOCKSTEP_CONTEXT if that is set."""
    path = os.environ.get(KUBECONFIG)
    if not path:
        raise LockstepError(f"which cluster? set {KUBECONFIG} to a kubeconfig file")
    try:
        config = KubeConfig.from_file(path).get(os.environ.get(CONTEXT) or None)
    except ConfigError as error:
        raise LockstepError(f"cannot use the kubeconfig {path}: {error}") from error
    return Client(config=config, field_manager=FIELD_MANAGER)
