"""Everything that the toolchain consists of."""

from __future__ import annotations

from lockstep import versions
from toolchain.cluster_groups import etcd, kind, kubernetes, kwok, lws, volcano
from toolchain.group import Group, architecture
from toolchain.kind_node import kind_node
from toolchain.pulumi_groups import pulumi, pulumi_command, pulumi_kubernetes

__all__ = ["architecture", "groups"]


def groups() -> dict[str, Group]:
    """Every group by its name, in the order in which they are made."""
    made = (
        etcd(),
        kwok(),
        kubernetes(),
        volcano(),
        lws(versions.LWS_DEFAULT),
        pulumi(),
        pulumi_command(),
        pulumi_kubernetes(),
        *(lws(version) for version in versions.LWS_SUPPORTED if version != versions.LWS_DEFAULT),
        kind(),
        kind_node(),
    )
    return {group.name: group for group in made}
