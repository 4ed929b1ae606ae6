"""The same pods without a gang: what all-or-nothing scheduling prevents."""

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from lockstep.judge.model import Workload

from . import pods
from .base import Scenario

DEFAULT_SCHEDULER = "default-scheduler"


class NoGang(Scenario):
    """As many plain pods on as few workers, placed by the default scheduler."""

    scenario = "no-gang"

    def create(self, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """Create the Deployment."""
        return kubernetes.apps.v1.Deployment(
            self._deployment,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=self._deployment,
                namespace=self.namespace,
                # Some of its pods stay pending, which the update must not wait for.
                annotations={"pulumi.com/skipAwait": "true"},
            ),
            spec=self.outcome_spec(),
            opts=opts,
        )

    @property
    def _deployment(self) -> str:
        return f"{self._name}-deployment"

    def outcome_spec(self) -> kubernetes.apps.v1.DeploymentSpecArgs:
        """Return the spec of the Deployment."""
        labels = pods.labels(self.scenario)
        return kubernetes.apps.v1.DeploymentSpecArgs(
            replicas=self._args.sizes.pods,
            selector=kubernetes.meta.v1.LabelSelectorArgs(match_labels=labels),
            template=pods.template(self._args.pool, labels, DEFAULT_SCHEDULER),
        )

    def expects(self) -> dict[str, Any]:
        """Expect the pods without a PodGroup: to the judge they are one group."""
        return {
            "workload": Workload("Deployment", self._deployment),
            "size": self._args.sizes.pods,
            "gang": False,
        }
