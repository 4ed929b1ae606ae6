"""A Volcano queue as a typed resource: what the gangs in it may use together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

API_VERSION = "scheduling.volcano.sh/v1beta1"
KIND = "Queue"


@dataclass(frozen=True)
class QueueArgs:
    """Arguments of Queue."""

    name: str
    """The queue's name, which is unique in the cluster."""
    capability: Mapping[str, pulumi.Input[str]]
    """The most that its gangs use together, by resource; what is not named is not limited."""
    weight: pulumi.Input[int] = 1
    """Its share against other queues when they request more than the cluster has."""
    reclaimable: pulumi.Input[bool] = False
    """Whether other queues may take back what this one uses beyond its share."""
    labels: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Labels of the queue."""


class Queue(kubernetes.apiextensions.CustomResource):
    """A queue, which is cluster-wide.

    A LeaderWorkerSet chooses it by its annotation `scheduling.volcano.sh/queue-name`, which LWS
    copies into the spec of each group's PodGroup.
    """

    def __init__(
        self, name: str, args: QueueArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(
            name,
            api_version=API_VERSION,
            kind=KIND,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=args.name, labels=dict(args.labels) or None
            ),
            spec=spec(args),
            opts=opts,
        )


def spec(args: QueueArgs) -> dict[str, Any]:
    """The object's spec."""
    return {
        "weight": args.weight,
        "reclaimable": args.reclaimable,
        "capability": dict(args.capability),
    }
