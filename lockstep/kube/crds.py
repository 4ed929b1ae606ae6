"""Install, update and delete the CustomResourceDefinitions (CRDs) of LWS instead of Helm.

On an upgrade, Helm does not update the CRDs in a chart's crds/, and it deletes those in its
templates when the next version has moved them: from LWS 0.7.0 to 0.8.0 that deletes every
LeaderWorkerSet (lws#880). So the CRDs are applied from the chart on this machine before the chart's
release. Where only the published chart is available, Helm installs them, and an installed LWS is
not upgraded.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from lightkube import ALL_NS, Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType

from lockstep.errors import LockstepError
from lockstep.kube.client import FIELD_MANAGER, Definition, find
from lockstep.wait import wait_until

INSTALLED_LABEL = "lockstep.dev/installed"
"""Label on CRDs that Lockstep installed and deletes on destroy."""

SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
NAMES = frozenset({SETS, "disaggregatedsets.disaggregatedset.x-k8s.io"})
"""The CRDs in the charts of LWS; the second since 0.9.0."""

TIMEOUT = 60.0
# Helm respects this annotation on the live object, whatever release the object came with.
_KEEP = {"helm.sh/resource-policy": "keep"}
_LOADER = yaml.CSafeLoader if hasattr(yaml, "CSafeLoader") else yaml.SafeLoader


def of_chart(chart: Path) -> list[dict[str, Any]]:
    """Read the CRDs of a chart; up to 0.7.0 they are among its templates, as plain YAML."""
    files = sorted([*chart.glob("crds/*.yaml"), *chart.glob("templates/crds/*.yaml")])
    if not files:
        raise LockstepError(
            f"the chart {chart} has no CRDs; run `lockstep tools` to fetch it again"
        )
    # The C loader, because it is a megabyte of YAML.
    return [yaml.load(file.read_bytes(), Loader=_LOADER) for file in files]  # noqa: S506


def apply(
    client: Client, definitions: Sequence[dict[str, Any]], others: Sequence[str] = ()
) -> None:
    """Create or update the CRDs, and wait until the API server serves them."""
    for definition in definitions:
        name = definition["metadata"]["name"]
        wanted = marked(definition, ours=name not in others)
        client.patch(
            Definition,
            name,
            wanted,
            patch_type=PatchType.APPLY,
            field_manager=FIELD_MANAGER,
            force=True,
        )
    for definition in definitions:
        name = definition["metadata"]["name"]
        served = partial(is_served, client, name)
        wait_until(f"the CRD {name} to be served", served, TIMEOUT)


def marked(definition: dict[str, Any], *, ours: bool) -> dict[str, Any]:
    """Return the CRD with an annotation for Helm and the label for `remove`."""
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


def already_there(client: Client) -> list[str]:
    """CRDs of LWS without the label; call it before Helm installs CRDs, which have no label."""
    found = {name: find(client, Definition, name) for name in sorted(NAMES)}
    return [
        name
        for name, one in found.items()
        if one and INSTALLED_LABEL not in one["metadata"].get("labels", {})
    ]


def remove(client: Client, others: Sequence[str]) -> Iterator[str]:
    """Delete the CRDs except `others` and those that still have objects.

    Yields a line for each CRD that stays because of its objects.
    """
    for name in sorted(NAMES.difference(others)):
        definition = find(client, Definition, name)
        if definition is None:
            continue
        if users := in_use(client, definition):
            yield f"{name} is kept, as {len(users)} objects of it exist, such as {users[0]}"
            continue
        client.delete(Definition, name)
        gone = partial(_is_gone, client, name)
        wait_until(f"the CRD {name} to be deleted", gone, TIMEOUT)


def in_use(client: Client, definition: Any) -> list[str]:
    """Objects of the kind that are not being deleted."""
    spec = definition["spec"]
    version = next(one["name"] for one in spec["versions"] if one["storage"])
    kind = create_namespaced_resource(
        spec["group"], version, spec["names"]["kind"], spec["names"]["plural"]
    )
    objects = [one.metadata for one in client.list(kind, namespace=ALL_NS)]
    return [f"{one.namespace}/{one.name}" for one in objects if one and not one.deletionTimestamp]


def is_served(client: Client, name: str) -> bool:
    """Whether objects of the kind can be created."""
    conditions = client.get(Definition, name)["status"].get("conditions") or ()  # null at first
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def _is_gone(client: Client, name: str) -> bool:
    return find(client, Definition, name) is None
