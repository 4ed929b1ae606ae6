"""Steps of an update that no provider offers: `python -m lockstep …` as a resource."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_command import local

from components.cluster.base import Cluster
from lockstep import paths, processes


def program(
    name: str,
    *,
    cluster_name: pulumi.Input[str],
    create: str | None = None,
    delete: str | None = None,
    environment: Mapping[str, pulumi.Input[str]],
    triggers: Sequence[Any] | None = None,
    opts: pulumi.ResourceOptions,
) -> local.Command:
    """Run Lockstep's own command line on create, again on any change, and on delete.

    Values go through the environment, never through shell text. A change of the environment runs
    `create` again in place; a change of `triggers` replaces the resource (pulumi-command#855).
    It is marked as the cluster's: whoever removes the cluster also ends a command that goes on by
    itself, because Pulumi was killed.
    """
    folder = pulumi.Output.from_input(cluster_name).apply(
        lambda known: str(paths.cluster_dir(known))
    )
    return local.Command(
        name,
        create=create and _shell(create),
        delete=delete and _shell(delete),
        dir=str(paths.project_dir()),
        environment={
            "LOCKSTEP_PYTHON": sys.executable,
            "LOCKSTEP_CLUSTER": cluster_name,
            processes.MARK: folder,
            **environment,
        },
        triggers=triggers,
        opts=opts,
    )


def access(cluster: Cluster) -> dict[str, pulumi.Input[str]]:
    """How such a program reaches a cluster; `lockstep.kube.access` reads it."""
    return {
        "LOCKSTEP_KUBECONFIG": cluster.kubeconfig_path,
        "LOCKSTEP_CONTEXT": cluster.context or "",
        "LOCKSTEP_INCARNATION": cluster.incarnation,
    }


def _shell(words: str) -> str:
    return f'"$LOCKSTEP_PYTHON" -m lockstep step {words}'
