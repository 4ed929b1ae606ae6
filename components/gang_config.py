"""The switch for gang scheduling: LWS creates PodGroups if its config names a provider."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.meta.v1 import ObjectMetaPatchArgs

from lockstep.errors import LockstepError
from lockstep.lws import config_text, names

from .cluster.base import Cluster

# Helm owns the fields; without this annotation a patch is refused as a conflict.
_FORCE = {"pulumi.com/patchForce": "true"}


@dataclass(frozen=True)
class GangConfigArgs:
    """Arguments of GangConfig."""

    cluster: Cluster
    """The cluster that LWS runs in."""
    release: kubernetes.helm.v3.Release | None
    """The release that this stack installed; None for an LWS that was installed before."""
    enabled: bool
    """Whether LWS creates PodGroups; False restores the original config."""


class GangConfig(pulumi.ComponentResource):
    """The scheduler provider, added to the config of LWS, and the restart that this needs.

    The manager reads its config when it starts, so it is restarted if and only if the config has
    changed. The patch stays when gang scheduling is turned off, and holds the original text then:
    deleting a patch removes the fields that it took over by force.
    """

    config: pulumi.Output[str]
    """The manager's config file as it is in the cluster now."""
    restarted_for: pulumi.Output[list[str]]
    """Changes whenever the manager is restarted: its config, and the revision of its release."""

    def __init__(
        self, name: str, args: GangConfigArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:platform:GangConfig", name, {"enabled": args.enabled}, opts)
        upstream = self._upstream(name, args)
        effective = upstream.apply(_with_provider) if args.enabled else upstream
        revision = pulumi.Output.from_input("")
        annotations: dict[str, pulumi.Input[str]] = dict(_FORCE)
        if args.release:
            # A Helm upgrade writes the chart's text again: patch again after each upgrade.
            revision = args.release.status.apply(lambda status: str(status.revision))
            annotations[names.REVISION_ANNOTATION] = revision
        if args.enabled:
            annotations[names.ORIGINAL_ANNOTATION] = upstream
        patch = kubernetes.core.v1.ConfigMapPatch(
            f"{name}-config",
            metadata=ObjectMetaPatchArgs(
                name=names.CONFIG_MAP, namespace=names.NAMESPACE, annotations=annotations
            ),
            data={names.CONFIG_KEY: effective},
            opts=self._patch_options(name, args),
        )
        self.config = patch.data.apply(_text)
        self.restarted_for = pulumi.Output.all(self.config, revision)
        if args.cluster.host is None:
            self._restart(name, args, pulumi.Output.all(upstream, self.config, revision))
        self.register_outputs({"config": self.config})

    def _upstream(self, name: str, args: GangConfigArgs) -> pulumi.Output[str]:
        """Return the config as it would be without Lockstep, read at each update."""
        path = f"{names.NAMESPACE}/{names.CONFIG_MAP}"
        found = kubernetes.core.v1.ConfigMap.get(
            f"{name}-upstream",
            # Through an output of the release, so that it is read after the release is installed.
            args.release.status.apply(lambda _: path) if args.release else path,
            opts=args.cluster.opts(self),
        )
        annotations = found.metadata.apply(lambda metadata: metadata.annotations or {})
        return pulumi.Output.all(found.data, annotations).apply(lambda known: _original(*known))

    def _patch_options(self, name: str, args: GangConfigArgs) -> pulumi.ResourceOptions:
        """Return the options of the patches; a command cleans up where LWS outlives the stack.

        Deleting the patches would remove the config, and restart the manager without it. So they
        are retained, and the command restores the config and then restarts the manager.
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
        """Restart the manager through an annotation that follows its config."""
        kubernetes.apps.v1.DeploymentPatch(
            f"{name}-restart",
            metadata=ObjectMetaPatchArgs(
                name=names.MANAGER, namespace=names.NAMESPACE, annotations=_FORCE
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
    """Return the annotation that names the config which the manager must have read.

    The original config needs no restart. The revision counts, too: an upgrade restarts the manager
    with the chart's config, before the config is patched again.
    """
    if config == upstream:
        return {}
    digest = hashlib.sha256(f"{revision}\n{config}".encode()).hexdigest()
    return {names.CONFIG_ANNOTATION: digest}


def _text(data: Mapping[str, str] | None) -> str:
    try:
        return (data or {})[names.CONFIG_KEY]
    except KeyError:
        raise pulumi.RunError(
            f"ConfigMap {names.NAMESPACE}/{names.CONFIG_MAP} has no {names.CONFIG_KEY}; "
            "check that it belongs to LWS"
        ) from None


def _original(data: Mapping[str, str] | None, annotations: Mapping[str, str]) -> str:
    try:
        return config_text.original_text(_text(data), annotations.get(names.ORIGINAL_ANNOTATION))
    except LockstepError as error:
        raise pulumi.RunError(str(error)) from error  # which Pulumi prints as one line


def _with_provider(text: str) -> str:
    try:
        return config_text.with_scheduler_provider(text)
    except LockstepError as error:
        raise pulumi.RunError(str(error)) from error
