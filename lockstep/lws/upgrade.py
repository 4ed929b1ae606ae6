"""Whether a live LWS may become another version, or some LeaderWorkerSet would suffer."""

from __future__ import annotations

import re
from typing import Any

from lightkube import ALL_NS, Client

from lockstep import versions
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.lws import gang_config


def installed_version(client: Client) -> str | None:
    """The version of the manager that the cluster has; None without one."""
    manager = kube.find(
        client, kube.Deployment, gang_config.LWS_MANAGER, namespace=gang_config.LWS_NAMESPACE
    )
    if manager is None:
        return None
    image = str(manager["spec"]["template"]["spec"]["containers"][0]["image"])
    return image.partition("@")[0].rpartition(":")[2].removeprefix("v")


def check(client: Client, there: str | None, version: str, missing: str | None = None) -> None:
    """Refuse another version than the one that is there, where it would do harm.

    Its manager may end every job that runs; and without its definitions at hand, Helm does worse:
    `missing` is the command that makes them.
    """
    if there in (None, version):
        return
    if hit := replaced(client, version):
        raise LockstepError(
            f"LWS {version} would replace every pod of what another LWS made (lws#797): "
            f"{len(hit)} LeaderWorkerSets, such as {hit[0]}; set lockstep:lwsVersion to "
            f"{versions.LWS_SUPPORTED[-1]}, which keeps their pods, or remove them first"
        )
    if missing:
        raise LockstepError(
            f"LWS {there} is installed, and an upgrade to {version} by Helm alone would delete "
            "every LeaderWorkerSet or leave its old definition (lws#880); "
            f"run `{missing}`, then update again"
        )


def replaced(client: Client, version: str) -> list[str]:
    """LeaderWorkerSets that a version would take for changed, though nobody touched them.

    LWS keeps each template as a ControllerRevision. Up to 0.7 it writes its empty time of creation
    as null, since 0.8 not at all; and before 0.9 it compares what it would write with what is there
    byte by byte. So it matters which LWS wrote it, and not which is there.
    """
    found = re.match(r"(\d+)\.(\d+)\.", version)
    if not found or (minor := (int(found[1]), int(found[2]))) >= (0, 9):
        return []
    sets = [one.metadata for one in client.list(kube.LeaderWorkerSet, namespace=ALL_NS)]
    alive = {
        one.uid: f"{one.namespace}/{one.name}" for one in sets if one and not one.deletionTimestamp
    }
    newest: dict[str, Any] = {}
    for one in client.list(kube.ControllerRevision, namespace=ALL_NS):
        for owner in (one.metadata and one.metadata.ownerReferences) or ():
            if owner.uid not in newest or newest[owner.uid]["revision"] < one["revision"]:
                newest[owner.uid] = one
    return sorted(
        name
        for uid, name in alive.items()
        if uid in newest and _keeps_empty(newest[uid]["data"]) != (minor < (0, 8))
    )


def _keeps_empty(data: Any) -> bool:
    """Whether a template's empty time of creation is written out; every template has one."""
    if isinstance(data, dict):
        return "creationTimestamp" in data or any(map(_keeps_empty, data.values()))
    return isinstance(data, list) and any(map(_keeps_empty, data))
