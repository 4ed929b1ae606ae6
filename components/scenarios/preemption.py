"""A gang of higher priority comes to a full pool: it gets the room, and no gang is cut."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge import Workload

from .. import leader_worker_set as lws
from . import pods
from .base import Plan, ScenarioArgs
from .gang import Gang

PRIORITIES = {"low": 1_000, "high": 1_000_000}
"""By level; a priority class belongs to the whole cluster, so its name says whose it is."""


class Preemption(Gang):
    """A set that fills its pool, and a set of higher priority; expects `preempted-whole`.

    Volcano goes by the priority class of the PodGroup, not of the pods, and LWS sets none. So the
    drill that lets the second set in also writes the class into its PodGroup: LWS makes PodGroups
    and never changes them. A group that is made anew has a PodGroup without it again.
    """

    scenario = "preemption"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """Two sets of one size; the second has no group until the drill asks for it."""
        plan = self.gang_plan(name, args, verdict="preempted-whole", blocked=None)
        rival_name = f"{name}-rival-lws"
        rival = replace(
            self._of_priority(args, "high"),
            groups=0,
            # The number of groups is also the drill's, which would be a conflict.
            annotations={"pulumi.com/patchForce": "true"},
        )

        return replace(
            plan,
            spec={"low": plan.spec, "high": lws.spec(rival), "priorities": PRIORITIES},
            create=lambda opts: plan.create(_after_rival(name, rival_name, rival, opts)),
            drill="preemption",
            more={"rival": Workload(lws.KIND, rival_name)},
        )

    def set_args(self, args: ScenarioArgs) -> lws.LeaderWorkerSetArgs:
        """The set of low priority."""
        return self._of_priority(args, "low")

    def _of_priority(self, args: ScenarioArgs, level: str) -> lws.LeaderWorkerSetArgs:
        labels = pods.labels(self.scenario)
        template = pods.template(args.pool, labels, priority_class=class_of(level))
        return replace(super().set_args(args), worker_template=template)


def _after_rival(
    name: str, rival_name: str, rival: lws.LeaderWorkerSetArgs, opts: pulumi.ResourceOptions
) -> pulumi.ResourceOptions:
    """Make the priority classes and the rival, and let the other set come after them."""
    classes = [
        _priority_class(f"{name}-{level}", class_of(level), value, opts)
        for level, value in PRIORITIES.items()
    ]
    made = lws.LeaderWorkerSet(
        rival_name,
        rival,
        _with(
            opts,
            # Pods that name a class which is not there are refused.
            depends_on=classes,
            # The drill scales it: a refresh that sees so must not take the rival away again.
            ignore_changes=["spec.replicas"],
        ),
    )
    return _with(opts, depends_on=[*classes, made])


def _with(opts: pulumi.ResourceOptions, **more: Any) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(**more))


def class_of(level: str) -> str:
    """The priority class of a level."""
    return f"lockstep-{Preemption.scenario}-{level}"


def _priority_class(
    name: str, title: str, value: int, opts: pulumi.ResourceOptions
) -> kubernetes.scheduling.v1.PriorityClass:
    return kubernetes.scheduling.v1.PriorityClass(
        name,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(name=title),
        value=value,
        description="Of Lockstep's preemption scenario",
        opts=opts,
    )
