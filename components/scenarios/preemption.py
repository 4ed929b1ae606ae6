"""A gang of higher priority arrives at a full pool: a complete gang makes room for it."""

from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge.model import Workload

from .. import leader_worker_set as lws
from .. import scheduler_conf
from .gang import Gang

PRIORITIES = {"low": 1_000, "high": 1_000_000}
"""Value of each priority class, by its level."""


class Preemption(Gang):
    """A set that fills its pool, and a set of higher priority.

    Volcano compares the priority classes of PodGroups, not of pods, and LWS sets none. So the
    drill that scales the second set up also writes the class into its PodGroup. LWS never changes
    a PodGroup that exists, but a recreated group has a PodGroup without the class again.
    """

    scenario = "preemption"

    @staticmethod
    def scheduler_conf(volcano: str) -> str | None:
        """Return a configuration that preempts, by whole gangs where Volcano has that."""
        return scheduler_conf.preemption(volcano)

    def create(self, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """Create the priority classes, the rival without groups, and the set of low priority."""
        classes = [self._priority_class(level, opts) for level in PRIORITIES]
        rival = lws.LeaderWorkerSet(
            self.rival_name,
            self._rival_args(),
            _merged(
                opts,
                # Pods that name a missing priority class are rejected.
                depends_on=classes,
                # The drill scales the rival: an update after a refresh must not scale it down.
                ignore_changes=["spec.replicas"],
            ),
        )
        low = self.set_args(self.scoped("low"))
        return lws.LeaderWorkerSet(self.set_name, low, _merged(opts, depends_on=[*classes, rival]))

    @property
    def rival_name(self) -> str:
        """The name of the set of higher priority."""
        return f"{self._name}-rival-lws"

    def outcome_spec(self) -> Any:
        """Return both sets and the priorities."""
        return {
            "low": lws.spec(self.set_args(self.scoped("low"))),
            "high": lws.spec(self._rival_args()),
            "priorities": PRIORITIES,
        }

    def expects(self) -> dict[str, Any]:
        """Expect the rival, too."""
        return {**super().expects(), "rival": Workload(lws.KIND, self.rival_name)}

    def _rival_args(self) -> lws.LeaderWorkerSetArgs:
        return replace(
            self.set_args(self.scoped("high")),
            groups=0,
            # The drill also writes the number of groups, which would be a conflict.
            annotations={"pulumi.com/patchForce": "true"},
        )

    def _priority_class(
        self, level: str, opts: pulumi.ResourceOptions
    ) -> kubernetes.scheduling.v1.PriorityClass:
        return kubernetes.scheduling.v1.PriorityClass(
            f"{self._name}-{level}",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(name=self.scoped(level)),
            value=PRIORITIES[level],
            description="Used by Lockstep's preemption scenario",
            opts=opts,
        )


def _merged(opts: pulumi.ResourceOptions, **more: Any) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(**more))
