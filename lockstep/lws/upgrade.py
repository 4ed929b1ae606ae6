"""Refuse an upgrade of LWS that would restart or delete LeaderWorkerSets."""

import re
from typing import Any

from lightkube import ALL_NS, Client

from lockstep import versions
from lockstep.errors import LockstepError
from lockstep.kube.client import ControllerRevision, Deployment, LeaderWorkerSet, find
from lockstep.lws import names


def installed_version(client: Client) -> str | None:
    """Return the version of the installed manager; None if LWS is not installed."""
    manager = find(client, Deployment, names.MANAGER, namespace=names.NAMESPACE)
    if manager is None:
        return None
    image = str(manager["spec"]["template"]["spec"]["containers"][0]["image"])
    return image.partition("@")[0].rpartition(":")[2].removeprefix("v")


def check(
    client: Client, installed: str | None, version: str, build_command: str | None = None
) -> None:
    """Refuse to replace the installed version by one that would harm what runs.

    The new manager may restart every job. Without the chart on this machine, Helm would even delete
    the CRDs: `build_command` is the command that builds it, None if the chart exists.
    """
    if installed in (None, version):
        return
    if hit := sets_that_would_restart(client, version):
        raise LockstepError(
            f"LWS {version} would restart every pod of sets that another version created "
            f"(lws#797): {len(hit)} LeaderWorkerSets, such as {hit[0]}; set lockstep:lwsVersion to "
            f"{versions.LWS_SUPPORTED[-1]}, which keeps their pods, or remove them first"
        )
    if build_command:
        raise LockstepError(
            f"LWS {installed} is installed, and an upgrade to {version} by Helm alone would delete "
            "every LeaderWorkerSet or leave its old definition (lws#880); "
            f"run `{build_command}`, then update again"
        )


def sets_that_would_restart(client: Client, version: str) -> list[str]:
    """Return the LeaderWorkerSets whose unchanged template a version would treat as changed.

    LWS keeps each template as a ControllerRevision. Up to 0.7 it writes an empty creationTimestamp
    as null, since 0.8 not at all; and before 0.9 it compares the stored template with its own byte
    by byte. So it matters which version wrote the template, not which version is installed.
    """
    found = re.match(r"(\d+)\.(\d+)\.", version)
    if not found or (minor := (int(found[1]), int(found[2]))) >= (0, 9):
        return []
    sets = [one.metadata for one in client.list(LeaderWorkerSet, namespace=ALL_NS)]
    alive = {
        one.uid: f"{one.namespace}/{one.name}" for one in sets if one and not one.deletionTimestamp
    }
    newest: dict[str, Any] = {}
    for one in client.list(ControllerRevision, namespace=ALL_NS):
        for owner in (one.metadata and one.metadata.ownerReferences) or ():
            if owner.uid not in newest or newest[owner.uid]["revision"] < one["revision"]:
                newest[owner.uid] = one
    return sorted(
        name
        for uid, name in alive.items()
        if uid in newest and _has_creation_timestamp(newest[uid]["data"]) != (minor < (0, 8))
    )


def _has_creation_timestamp(data: Any) -> bool:
    """Whether a stored template has a creationTimestamp anywhere."""
    if isinstance(data, dict):
        return "creationTimestamp" in data or any(map(_has_creation_timestamp, data.values()))
    return isinstance(data, list) and any(map(_has_creation_timestamp, data))
