"""Steps of an update that no Pulumi provider offers: `lockstep step …` as a resource."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_command import local

# What comes before a command's text. It is here and not in the text, because Pulumi prints the text
# before the reason when a command fails. Pulumi runs commands in the project's folder, so nothing
# depends on the machine: the state of a stack serves every checkout. The folder marks the processes
# of a cluster (lockstep.processes). `$0` is the command's text.
_FOLDER = (
    'export LOCKSTEP_CLUSTER_DIR="${LOCKSTEP_STATE:-$PWD/.lockstep}/clusters/$LOCKSTEP_CLUSTER"'
)
_KUBECONFIG = 'export LOCKSTEP_KUBECONFIG="$LOCKSTEP_CLUSTER_DIR/kubeconfig"'
_RUN = 'export PATH="$PWD/.venv/bin:$PWD/venv/bin:$PATH"; exec $0'


def lockstep_command(
    name: str,
    *,
    cluster_name: str,
    create: str | None = None,
    delete: str | None = None,
    environment: Mapping[str, pulumi.Input[str]],
    uses_local_kubeconfig: bool = False,
    rerun_when: pulumi.Input[Any] = None,
    triggers: Sequence[Any] | None = None,
    opts: pulumi.ResourceOptions,
) -> local.Command:
    """Run a step of Lockstep's command line on create, again when an input changes, and on delete.

    Values go through the environment, never through shell text. A change of the environment runs
    `create` again in place; a change of `triggers` replaces the resource (pulumi-command#855).
    `rerun_when` is a value that the step does not read: the step only runs again when it changes.
    `uses_local_kubeconfig` names the kubeconfig in the cluster's folder on this machine.
    """
    setup = [_FOLDER, *([_KUBECONFIG] if uses_local_kubeconfig else []), _RUN]
    rerun = {} if rerun_when is None else {"LOCKSTEP_RERUN_WHEN": digest(rerun_when)}
    return local.Command(
        name,
        create=create and f"lockstep step {create}",
        delete=delete and f"lockstep step {delete}",
        interpreter=["/bin/sh", "-c", "; ".join(setup)],
        environment={"LOCKSTEP_CLUSTER": cluster_name, **environment, **rerun},
        triggers=triggers,
        opts=opts,
    )


def digest(value: pulumi.Input[Any]) -> pulumi.Output[str]:
    """Hash any value that may have outputs inside; equal values have equal hashes."""
    return pulumi.Output.from_input(value).apply(_digest)


def _digest(known: Any) -> str:
    # Pulumi's argument classes keep their values in __dict__.
    text = json.dumps(known, default=vars, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
