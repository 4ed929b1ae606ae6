"""The switch: LWS creates PodGroups once its config names a scheduler provider."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.meta.v1 import ObjectMetaPatchArgs

from lockstep.lws import gang_config

from . import lws
from .cluster.base import Cluster

# Helm, or whoever installed LWS, owns the fields; without this a patch is refused as a conflict.
_FORCE = {"pulumi.com/patchForce": "true"}


@dataclass(frozen=True)
class GangConfigArgs:
    """Whose config, and what it should say."""

    cluster: Cluster
    """The cluster that LWS runs in."""
    release: kubernetes.helm.v3.Release | None
    """The release that this stack installed; None for an LWS that was there before."""
    enabled: bool
    """Whether LWS creates PodGroups; False gives upstream's config back."""


class GangConfig(pulumi.ComponentResource):
    """The scheduler provider, added to whatever config LWS has, and the restart that this needs.

    The manager reads its config when it starts, so it is restarted when, and only when, what it
    should read has changed. The patch stays when gang scheduling is turned off, with the upstream
    text in it: a field that was taken over by force is *removed* when its patch is deleted.
    """

    config: pulumi.Output[str]
    """The manager's config file as it is in the cluster now."""
    restarted_for: pulumi.Output[list[str]]
    """Changes whenever the manager is restarted: its config, and the revision of its release."""

    def __init__(
        self, name: str, args: GangConfigArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:GangConfig", name, None, opts)
        upstream = self._upstream(name, args)
        effective = (
            upstream.apply(gang_config.with_scheduler_provider) if args.enabled else upstream
        )
        revision = _revision(args.release)
        # A Helm upgrade writes the chart's text again: patch again after each.
        seen = {gang_config.REVISION_ANNOTATION: revision} if args.release else {}
        patch = kubernetes.core.v1.ConfigMapPatch(
            f"{name}-config",
            metadata=ObjectMetaPatchArgs(
                name=lws.CONFIG_MAP,
                namespace=lws.NAMESPACE,
                annotations={**_FORCE, **seen},
            ),
            data={lws.CONFIG_KEY: effective},
            opts=self._patch_options(name, args),
        )
        self.config = patch.data.apply(_text)
        self.restarted_for = pulumi.Output.all(self.config, revision)
        if args.cluster.host is None:
            self._restart(name, args, pulumi.Output.all(upstream, self.config, revision))
        self.register_outputs({"config": self.config})

    def _upstream(self, name: str, args: GangConfigArgs) -> pulumi.Output[str]:
        """The text without our part, read from the cluster at each update: others may edit it."""
        path = f"{lws.NAMESPACE}/{lws.CONFIG_MAP}"
        found = kubernetes.core.v1.ConfigMap.get(
            f"{name}-upstream",
            # Through the release's output, so that it is read after the release is there.
            args.release.status.apply(lambda _: path) if args.release else path,
            opts=args.cluster.opts(self),
        )
        return found.data.apply(lambda data: gang_config.without_scheduler_provider(_text(data)))

    def _patch_options(self, name: str, args: GangConfigArgs) -> pulumi.ResourceOptions:
        """Clean up by a command where LWS outlives the stack.

        Deleting the patches would remove the whole config, and restart the manager before it is
        back. So they are left alone, and the command takes our part out of both, in order.
        """
        if args.release is not None:
            return args.cluster.opts(self)
        restore = args.cluster.command(
            f"{name}-restore",
            delete="gang-config restore",
            opts=args.cluster.opts(self),
        )
        return args.cluster.opts(self, depends_on=[restore], retain_on_delete=True)

    def _restart(self, name: str, args: GangConfigArgs, texts: pulumi.Output[list[str]]) -> None:
        """Roll the manager out again by an annotation that follows its config."""
        kubernetes.apps.v1.DeploymentPatch(
            f"{name}-restart",
            metadata=ObjectMetaPatchArgs(
                name=lws.MANAGER, namespace=lws.NAMESPACE, annotations=_FORCE
            ),
            spec=kubernetes.apps.v1.DeploymentSpecPatchArgs(
                template=kubernetes.core.v1.PodTemplateSpecPatchArgs(
                    metadata=ObjectMetaPatchArgs(
                        annotations=texts.apply(lambda known: restart_annotations(*known))
                    )
                )
            ),
            opts=args.cluster.opts(self, retain_on_delete=args.release is None),
        )


def restart_annotations(upstream: str, config: str, revision: str) -> dict[str, str]:
    """Name the config that the manager must have read; upstream's own needs no restart.

    The revision counts, too: an upgrade restarts the manager with the chart's config, before the
    patch is there again.
    """
    if config == upstream:
        return {}
    digest = hashlib.sha256(f"{revision}\n{config}".encode()).hexdigest()
    return {gang_config.CONFIG_ANNOTATION: digest}


def _revision(release: kubernetes.helm.v3.Release | None) -> pulumi.Output[str]:
    if release is None:
        return pulumi.Output.from_input("")
    return release.status.apply(lambda status: str(status.revision))


def _text(data: Mapping[str, str] | None) -> str:
    try:
        return (data or {})[lws.CONFIG_KEY]
    except KeyError:
        raise pulumi.RunError(
            f"ConfigMap {lws.NAMESPACE}/{lws.CONFIG_MAP} has no {lws.CONFIG_KEY}; is this LWS?"
        ) from None
