"""A gang that fits: all of its pods start together. Most other scenarios start from this one."""

from typing import Any

import pulumi

from lockstep.judge.model import Workload

from .. import leader_worker_set as lws
from .. import volcano
from . import pods
from .base import Scenario


class Gang(Scenario):
    """A LeaderWorkerSet whose groups are gangs that Volcano places on the pool's workers."""

    scenario = "gang"
    scheduler = volcano.SCHEDULER_NAME
    startup_policy: lws.StartupPolicy = "LeaderCreated"

    def create(self, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """Create the set."""
        return lws.LeaderWorkerSet(self.set_name, self.set_args(), opts)

    @property
    def set_name(self) -> str:
        """The name of the LeaderWorkerSet."""
        return f"{self._name}-lws"

    def set_args(self, priority_class: str | None = None) -> lws.LeaderWorkerSetArgs:
        """Return the set's arguments."""
        labels = pods.labels(self.scenario)
        template = pods.template(self._args.pool, labels, priority_class=priority_class)
        return lws.LeaderWorkerSetArgs(
            namespace=self.namespace,
            size=self._args.sizes.size,
            groups=self._args.sizes.groups,
            worker_template=template,
            scheduler_name=self.scheduler,
            startup_policy=self.startup_policy,
            restart_policy="RecreateGroupOnPodRestart",
            labels=labels,
        )

    def outcome_spec(self) -> Any:
        """Return the spec of the set."""
        return lws.spec(self.set_args())

    def expects(self) -> dict[str, Any]:
        """Expect groups of the set, with PodGroups if Volcano places them."""
        return {
            "workload": Workload(lws.KIND, self.set_name),
            "size": self._args.sizes.size,
            "groups": self._args.sizes.groups,
            "gang": self.scheduler == volcano.SCHEDULER_NAME,
        }
