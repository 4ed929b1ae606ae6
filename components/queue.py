"""A Volcano queue as a typed resource: what the gangs in it may use together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes


@dataclass(frozen=True)
class QueueArgs:
    """Arguments of Queue."""

    name: str
    """The queue's name, which is unique in the cluster."""
    capability: Mapping[str, pulumi.Input[str]]
    """The most that its gangs use together, by resource; what is not named is not limited."""
    labels: Mapping[str, pulumi.Input[str]]
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
            api_version="scheduling.volcano.sh/v1beta1",
            kind="Queue",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=args.name, labels=dict(args.labels)),
            spec=spec(args),
            opts=opts,
        )


def spec(args: QueueArgs) -> dict[str, Any]:
    """The object's spec: its gangs get no more than the capability, and nothing is taken back."""
    return {"weight": 1, "reclaimable": False, "capability": dict(args.capability)}
