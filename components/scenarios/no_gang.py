"""The same pods without a gang: what all-or-nothing scheduling prevents."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge import Workload

from .. import pools
from . import pods
from .base import Plan, Scenario, ScenarioArgs

DEFAULT_SCHEDULER = "default-scheduler"


class NoGang(Scenario):
    """As many plain pods on as few workers, by the default scheduler; expects `partial`."""

    scenario = "no-gang"

    def plan(self, name: str, args: ScenarioArgs) -> Plan:
        """A Deployment knows no gangs: the judge sees all of its pods as one."""
        size = args.size * args.groups
        deployment = f"{name}-deployment"
        spec = self._spec(args, size)
        return Plan(
            verdict=expected(len(args.pool.workers), args.blocked, size),
            workload=Workload("Deployment", deployment),
            size=size,
            groups=1,
            gang=False,
            blocked=args.blocked,
            spec=spec,
            create=lambda opts: kubernetes.apps.v1.Deployment(
                deployment,
                metadata=kubernetes.meta.v1.ObjectMetaArgs(
                    name=deployment,
                    namespace=self.namespace,
                    # Some of its pods stay pending: that is the point.
                    annotations={"pulumi.com/skipAwait": "true"},
                ),
                spec=spec,
                opts=opts,
            ),
        )

    def _spec(self, args: ScenarioArgs, size: int) -> kubernetes.apps.v1.DeploymentSpecArgs:
        labels = pods.labels(self.scenario)
        return kubernetes.apps.v1.DeploymentSpecArgs(
            replicas=size,
            selector=kubernetes.meta.v1.LabelSelectorArgs(match_labels=labels),
            template=pods.template(args.pool, labels, DEFAULT_SCHEDULER),
        )


def expected(workers: int, blocked: int, size: int) -> str:
    """Say what becomes of the pods: a part of them starts, or all where there is room for all."""
    room = pools.capacity(workers, blocked)
    if room == 0:
        raise pulumi.RunError(
            f"no-gang: all {workers} workers are blocked, so there is nothing to see; block fewer"
        )
    return "partial" if room < size else "placed"
