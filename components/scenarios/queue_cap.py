"""Room for all gangs, but a queue that admits fewer: the cap holds."""

from __future__ import annotations

from dataclasses import replace

import pulumi

from lockstep.kube import quantity

from .. import leader_worker_set as lws
from .. import queue, volcano
from . import pods
from .base import Plan, ScenarioArgs
from .gang import Gang

QUEUE = "lockstep-queue-cap"
"""Queues belong to the whole cluster, so its name says whose it is."""


class QueueCap(Gang):
    """Groups in a queue with room for all but one of them; expects them `capped`.

    The workers could take every gang, so only the queue's capability keeps one waiting.
    """

    scenario = "queue-cap"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Cap the queue at one gang fewer than there are."""
        cap = args.groups - 1
        line = queue.QueueArgs(QUEUE, capability(args, cap), labels=pods.labels(self.scenario))
        plan = self.gang_plan(name, args, verdict="capped", blocked=None)

        def create(opts: pulumi.ResourceOptions) -> pulumi.Resource:
            made = queue.Queue(f"{name}-queue", line, opts)
            # The set names its queue by a plain string: nothing else says that it must be there.
            after = pulumi.ResourceOptions(depends_on=[made])
            return plan.create(pulumi.ResourceOptions.merge(opts, after))

        return replace(
            plan,
            spec={"set": plan.spec, "queue": queue.spec(line)},
            create=create,
            drill="turns",
            more={"at_once": cap, "queue": QUEUE},
        )

    def set_args(self, args: ScenarioArgs) -> lws.LeaderWorkerSetArgs:
        """The set in the queue: LWS copies the annotation into each PodGroup's spec."""
        return replace(super().set_args(args), annotations={volcano.QUEUE_ANNOTATION: QUEUE})


def capability(args: ScenarioArgs, gangs: int) -> dict[str, pulumi.Output[str]]:
    """What some gangs ask for together."""
    count = args.size * gangs
    return {
        "cpu": args.pool.pod_cpu.apply(
            lambda one: quantity.format_cpu(quantity.parse(one) * count)
        ),
        "memory": args.pool.pod_memory.apply(
            lambda one: quantity.format_memory(quantity.parse(one) * count)
        ),
    }
