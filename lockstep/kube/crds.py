"""LWS's CustomResourceDefinitions, in our hands and not in Helm's.

Helm keeps those in a chart's crds/ as they are on an upgrade, and deletes those in its templates
when the next version has moved them: from LWS 0.7.0 to 0.8.0 that takes every LeaderWorkerSet along
(lws#880). So they are applied from the chart on this machine, before its release is; where only the
published chart is at hand, Helm installs them, and a live LWS is not upgraded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from lightkube import ALL_NS, Client
from lightkube.core.resource import ApiInfo, ResourceDef
from lightkube.generic_resource import GenericGlobalResource, create_namespaced_resource
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.kube import client as kube

INSTALLED_LABEL = "lockstep.dev/installed"
"""On definitions that were not there before us, and that leave with us."""

SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
NAMES = frozenset({SETS, "disaggregatedsets.disaggregatedset.x-k8s.io"})
"""What the charts of LWS define; the second since 0.9.0."""

PATIENCE = 60.0
YOUNG = 2.0
# Heeded on the live object: whatever release an object came with, Helm lets it be.
_KEEP = {"helm.sh/resource-policy": "keep"}
_LOADER = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader


class Definition(GenericGlobalResource):
    """A CustomResourceDefinition, as a mapping."""

    _api_info = ApiInfo(
        resource=ResourceDef("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
        plural="customresourcedefinitions",
        verbs=["get", "list", "patch", "delete"],
    )


def of_chart(chart: Path) -> list[dict[str, Any]]:
    """Read the definitions of a chart; up to 0.7.0 they are among its templates, as plain YAML."""
    files = sorted([*chart.glob("crds/*.yaml"), *chart.glob("templates/crds/*.yaml")])
    if not files:
        raise LockstepError(f"the chart {chart} defines no kinds; make the toolchain anew")
    # The fast loader: it is a megabyte of YAML.
    return [yaml.load(file.read_bytes(), Loader=_LOADER) for file in files]  # noqa: S506


def apply(
    client: Client, definitions: Sequence[dict[str, Any]], others: Sequence[str] = ()
) -> None:
    """Create or update the definitions, and wait until the API server serves them."""
    for definition in definitions:
        name = definition["metadata"]["name"]
        wanted = marked(definition, ours=name not in others)
        client.patch(
            Definition,
            name,
            wanted,
            patch_type=PatchType.APPLY,
            field_manager=kube.FIELD_MANAGER,
            force=True,
        )
    for definition in definitions:
        name = definition["metadata"]["name"]
        _until(f"{name} is served", partial(_serves, client, name))


def marked(definition: dict[str, Any], *, ours: bool) -> dict[str, Any]:
    """The definition with what tells Helm, and us on the way out, whose it is."""
    metadata = definition["metadata"]
    label = {INSTALLED_LABEL: "true"} if ours else {}
    return {
        **definition,
        "metadata": {
            **metadata,
            "annotations": {**metadata.get("annotations", {}), **_KEEP},
            "labels": {**metadata.get("labels", {}), **label},
        },
    }


def is_served(definition: Any) -> bool:
    """Whether objects of the kind can be made."""
    return _condition(definition, "Established").get("status") == "True"


def _condition(definition: Any, kind: str) -> dict[str, str]:
    conditions = ((definition or {}).get("status") or {}).get("conditions") or ()
    return next((one for one in conditions if one["type"] == kind), {})


def until_settled(client: Client, name: str) -> None:
    """Wait until objects of a kind are made at once.

    The API server lets whoever makes one of a kind that it serves for less than 2 s wait for 2 s
    more. There is nothing to watch for.
    """
    definition = _found(client, name)
    if is_served(definition):
        since = datetime.fromisoformat(_condition(definition, "Established")["lastTransitionTime"])
        age = (datetime.now(UTC) - since).total_seconds()
        time.sleep(min(max(YOUNG - age, 0.0), YOUNG))


def already_there(client: Client) -> list[str]:
    """Definitions of LWS that were there before us; Helm marks none, so ask before it installs."""
    found = {name: _found(client, name) for name in sorted(NAMES)}
    return [name for name, one in found.items() if one and INSTALLED_LABEL not in _labels(one)]


def remove(client: Client, others: Sequence[str]) -> Iterator[str]:
    """Delete the definitions that came with us, but none that somebody has objects of.

    Yields a line for each that stays.
    """
    for name in sorted(NAMES.difference(others)):
        definition = _found(client, name)
        if definition is None:
            continue
        if users := in_use(client, definition):
            yield f"{name} stays, as {len(users)} of its objects are there, such as {users[0]}"
            continue
        client.delete(Definition, name)
        _until(f"{name} is gone", partial(_lacks, client, name))


def in_use(client: Client, definition: Any) -> list[str]:
    """Objects of the kind that are there to stay."""
    spec = definition["spec"]
    version = next(one["name"] for one in spec["versions"] if one["storage"])
    kind = create_namespaced_resource(
        spec["group"], version, spec["names"]["kind"], spec["names"]["plural"]
    )
    objects = [one.metadata for one in client.list(kind, namespace=ALL_NS)]
    return [f"{one.namespace}/{one.name}" for one in objects if one and not one.deletionTimestamp]


def _found(client: Client, name: str) -> Any | None:
    return kube.find(client, Definition, name)


def _labels(definition: Any) -> dict[str, str]:
    return definition["metadata"].get("labels") or {}


def _serves(client: Client, name: str) -> bool:
    return is_served(_found(client, name))


def _lacks(client: Client, name: str) -> bool:
    return _found(client, name) is None


def _until(what: str, reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        if time.monotonic() > deadline:
            raise LockstepError(f"waited {PATIENCE:.0f} s in vain until {what}")
        time.sleep(0.1)
