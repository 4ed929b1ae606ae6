"""The environment variables of the steps of an update: their meanings, and typed access."""

import json
import os
from collections.abc import Mapping
from typing import Any

from lockstep.errors import LockstepError

VARIABLES: Mapping[str, str] = {
    "LOCKSTEP_CLUSTER": "the name of the cluster",
    "LOCKSTEP_INCARNATION": "an id that changes when the cluster is recreated",
    "LOCKSTEP_RUN": "an id that changes when the cluster's processes are started again",
    "LOCKSTEP_KUBECONFIG": "the path of a kubeconfig (with a context, default: kubectl's)",
    "LOCKSTEP_CONTEXT": "a context of that kubeconfig (optional)",
    "LOCKSTEP_KIND_CONFIG": "kind's configuration of the cluster, as YAML",
    "LOCKSTEP_CHART": "the folder of the LWS chart (optional)",
    "LOCKSTEP_VERSION": "the version of Volcano or LWS",
    "LOCKSTEP_OPERATOR": "the operator to start, volcano or lws",
    "LOCKSTEP_NAMESPACE": "the namespace to record",
    "LOCKSTEP_SCENARIO": "the name of the scenario",
    "LOCKSTEP_POOL": "the name of a pool of workers",
    "LOCKSTEP_POOL_SIZE": "the number of workers in the pool",
    "LOCKSTEP_NODES": "the names of the pool's workers, as a JSON list",
    "LOCKSTEP_BLOCKED": "how many of these workers to block",
    "LOCKSTEP_DEADLINE": "seconds after which the recorder ends by itself (optional)",
    "LOCKSTEP_SCHEDULER_METRICS": "the address of Volcano's metrics (optional; default: its pods')",
    "LOCKSTEP_SCHEDULER_CONF": "the configuration file of that Volcano (optional)",
    "LOCKSTEP_EXPECTATION": "the expected verdict, as JSON",
    "LOCKSTEP_DRILL": "the drill to perform before judging (optional)",
    "LOCKSTEP_PATIENCE": "seconds to wait before judging the current state (optional)",
    "PULUMI_COMMAND_STDOUT": "what `crds apply` printed when it ran last; set by Pulumi",
}


def text(name: str) -> str:
    """Return a variable that must be set."""
    value = optional(name)
    if value is None:
        raise LockstepError(f"{name} is not set; set it to {VARIABLES[name]}")
    return value


def optional(name: str) -> str | None:
    """Return a variable, or None when it is not set or empty."""
    return os.environ.get(name) or None


def integer(name: str) -> int:
    """Return a variable that must be a whole number."""
    value = text(name)
    if not value.isdecimal():
        raise LockstepError(f"{name} is {value!r}; it must be a whole number")
    return int(value)


def seconds(name: str, default: float) -> float:
    """Return a number of seconds, or the default when the variable is not set."""
    value = optional(name)
    try:
        return default if value is None else float(value)
    except ValueError:
        raise LockstepError(f"{name} is {value!r}; it must be a number of seconds") from None


def document(name: str) -> Any:
    """Return the value of a variable that must be JSON."""
    value = text(name)
    try:
        return json.loads(value)
    except ValueError as error:
        raise LockstepError(f"{name} is not JSON ({error}); its value is {value!r}") from error
