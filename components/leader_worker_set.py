"""LeaderWorkerSet as a typed resource: a wrong field is a type error, not a rejected object."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import PodSpecArgs, PodTemplateSpecArgs

API_VERSION = "leaderworkerset.x-k8s.io/v1"
KIND = "LeaderWorkerSet"

StartupPolicy = Literal["LeaderCreated", "LeaderReady"]
RestartPolicy = Literal["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"]
SubdomainPolicy = Literal["Shared", "UniquePerReplica"]
SubGroupType = Literal["LeaderWorker", "LeaderExcluded"]


@dataclass(frozen=True)
class RolloutStrategy:
    """How groups are replaced when a template changes; numbers are of groups, not of pods."""

    max_unavailable: pulumi.Input[int] | pulumi.Input[str] | None = None
    """Groups that may be away, as a number or a percentage."""
    max_surge: pulumi.Input[int] | pulumi.Input[str] | None = None
    """Extra groups, as a number or a percentage."""
    partition: pulumi.Input[int] | None = None
    """Only groups with this index or a higher one are updated."""


@dataclass(frozen=True)
class SubGroupPolicy:
    """Groups inside a group, for topologies."""

    size: pulumi.Input[int]
    """Pods per subgroup."""
    type: SubGroupType | None = None
    """Whether the leader belongs to the first subgroup."""


@dataclass(frozen=True)
class LeaderWorkerSetArgs:
    """A set of groups, each of one leader and `size - 1` workers."""

    namespace: pulumi.Input[str]
    """The namespace it lives in."""
    size: pulumi.Input[int]
    """Pods per group, leader included: what gang scheduling places together."""
    worker_template: PodTemplateSpecArgs
    """The workers' pods, and the leaders' unless they have a template of their own."""
    leader_template: PodTemplateSpecArgs | None = None
    """The leaders' pods."""
    groups: pulumi.Input[int] = 1
    """How many groups; upstream calls them replicas."""
    scheduler_name: str | None = None
    """The scheduler of every pod; None leaves it to the templates."""
    startup_policy: StartupPolicy | None = None
    """Whether workers wait for their leader. With LeaderReady, LWS gates a gang at one pod."""
    restart_policy: RestartPolicy | None = None
    """What a pod's restart means for its group; RecreateGroupAfterStart needs LWS 0.9."""
    rollout: RolloutStrategy | None = None
    """How groups are replaced."""
    sub_groups: SubGroupPolicy | None = None
    """Groups inside a group."""
    subdomain_policy: SubdomainPolicy | None = None
    """One headless Service for all groups, or one for each."""
    annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """On the set; `scheduling.volcano.sh/queue-name` chooses the gang's queue."""
    labels: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """On the set."""


class LeaderWorkerSet(kubernetes.apiextensions.CustomResource):
    """Groups of pods that belong together. The object has the resource's name.

    The update does not wait for its pods: a gang that is held stays pending on purpose, and who
    wants to know watches it.
    """

    def __init__(
        self, name: str, args: LeaderWorkerSetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(
            name,
            api_version=API_VERSION,
            kind=KIND,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=name,
                namespace=args.namespace,
                annotations={"pulumi.com/skipAwait": "true", **args.annotations},
                labels=dict(args.labels) or None,
            ),
            spec=spec(args),
            opts=opts,
        )


def spec(args: LeaderWorkerSetArgs) -> dict[str, Any]:
    """The object's spec, with only what was asked for: the rest is LWS's own defaults."""
    return _present(
        replicas=args.groups,
        startupPolicy=args.startup_policy,
        rolloutStrategy=args.rollout and _rollout(args.rollout),
        networkConfig=args.subdomain_policy and {"subdomainPolicy": args.subdomain_policy},
        leaderWorkerTemplate=_present(
            size=args.size,
            restartPolicy=args.restart_policy,
            subGroupPolicy=args.sub_groups
            and _present(
                subGroupSize=args.sub_groups.size, subGroupPolicyType=args.sub_groups.type
            ),
            leaderTemplate=args.leader_template
            and _scheduled(args.leader_template, args.scheduler_name),
            workerTemplate=_scheduled(args.worker_template, args.scheduler_name),
        ),
    )


def _rollout(strategy: RolloutStrategy) -> dict[str, Any]:
    return {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": _present(
            maxUnavailable=strategy.max_unavailable,
            maxSurge=strategy.max_surge,
            partition=strategy.partition,
        ),
    }


def _scheduled(template: PodTemplateSpecArgs, scheduler: str | None) -> PodTemplateSpecArgs:
    """The template with the scheduler set, in a copy: the caller may use the template again."""
    if scheduler is None:
        return template
    if not isinstance(template.spec, PodSpecArgs):
        raise TypeError("scheduler_name needs pod templates whose spec is a PodSpecArgs")
    pod = copy.copy(template.spec)
    pod.scheduler_name = scheduler
    scheduled = copy.copy(template)
    scheduled.spec = pod
    return scheduled


def _present(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
