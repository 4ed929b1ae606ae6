"""Receipts: what a scenario did and how it was judged, as one JSON document to keep and share.

`Receipt` defines the document; `receipt.schema.json` beside this file is generated from it.
People post receipts in pull requests and chats, so a receipt holds no credentials and no paths of
the machine that made it.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.judge.model import Expectation, Verdict
from lockstep.recording import timeline
from lockstep.recording.model import instant
from lockstep.report.timeline import Document, Instant, Timeline

if TYPE_CHECKING:
    from lockstep.recording.model import Recording

SCHEMA: Literal["lockstep.dev/receipt/v1"] = "lockstep.dev/receipt/v1"

# Settings that name credentials or where they are; a context's name often has account numbers.
_PRIVATE = frozenset({"kubeconfig", "kubeconfigPath", "kubeContext", "kube_context"})

Slug = Annotated[str, Meta(pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]


class ClusterName(Document, frozen=True, kw_only=True):
    """The cluster on which the scenario ran."""

    name: str
    provider: str


class WorkerSize(Document, frozen=True, kw_only=True):
    """A worker with its allocatable resources."""

    name: str
    cpu: str
    memory: str


class Receipt(Document, frozen=True, kw_only=True):
    """What one scenario did on one cluster, and how it was judged."""

    schema: Literal["lockstep.dev/receipt/v1"]
    scenario: Slug
    step: Annotated[
        Slug,
        Meta(
            description="The name of the receipt and its file: the scenario, or the scenario and "
            "what was changed, as in constrained-released."
        ),
    ]
    created_at: Instant
    versions: dict[str, str]
    config: Annotated[
        dict[str, Any],
        Meta(description="The settings of this run, without credentials and paths."),
    ]
    cluster: ClusterName
    workers: list[WorkerSize]
    expectation: Expectation
    verdict: Verdict
    timeline: Timeline
    evidence: Annotated[
        list[str], Meta(description="What the verdict rests on, one fact per line.")
    ]


def build(
    recording: Recording, expectation: Expectation, verdict: Verdict, context: Mapping[str, Any]
) -> Receipt:
    """Make a receipt; `context` has cluster, versions, config, and perhaps step and createdAt."""
    cluster = context["cluster"]
    workers = timeline.workers(recording) or list(context.get("workers", ()))
    document = {
        "schema": SCHEMA,
        "scenario": expectation.scenario,
        "step": context.get("step") or expectation.scenario,
        "createdAt": context.get("createdAt") or instant(datetime.now(UTC)),
        "versions": dict(context.get("versions", {})),
        "config": _public(context.get("config", {})),
        "cluster": {"name": cluster["name"], "provider": cluster["provider"]},
        "workers": workers,
        "expectation": expectation.to_mapping(),
        "verdict": {**msgspec.to_builtins(verdict), "evidence": []},
        "timeline": timeline.build(recording),
        "evidence": verdict.evidence,
    }
    try:
        return msgspec.convert(document, Receipt)
    except msgspec.ValidationError as error:
        raise LockstepError(
            f"the receipt of {expectation.scenario} is not valid: {error}"
        ) from error


def to_document(receipt: Receipt) -> dict[str, Any]:
    """Return the receipt as JSON has it; the evidence is beside the verdict, not in it."""
    document: dict[str, Any] = msgspec.to_builtins(receipt)
    document["expectation"] = receipt.expectation.to_mapping()
    del document["verdict"]["evidence"]
    if receipt.verdict.platform is None:  # nor have receipts of earlier versions
        del document["verdict"]["platform"]
    return document


def write(path: Path, receipt: Receipt) -> None:
    """Write a receipt atomically, readable by everyone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(to_document(receipt)), indent=2)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text + b"\n")
        fresh.chmod(0o644)
        keep_failed(path)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def keep_failed(path: Path) -> None:
    """Copy a receipt that is about to be replaced to the folder `failed`, if its verdict failed.

    A later verdict must not hide an earlier one. No copy there is ever overwritten.
    """
    try:
        old = read(path)
    except LockstepError:  # there is none, or it is broken
        return
    if old.verdict.ok:
        return
    folder, text = failed_folder(path.parent), path.read_bytes()
    folder.mkdir(exist_ok=True)
    stem = f"{old.step}-{re.sub('[-:.]', '', old.created_at)}"
    kept = folder / f"{stem}.json"
    for number in itertools.count(2):
        if not kept.exists() or kept.read_bytes() == text:
            break
        kept = folder / f"{stem}-{number}.json"
    kept.write_bytes(text)


def failed_folder(folder: Path) -> Path:
    """The folder of the receipts that failed and were replaced by later ones."""
    return folder / "failed"


def home() -> Path:
    """The folder of the receipts: `LOCKSTEP_RECEIPTS`, or `out/receipts` of the checkout."""
    own = os.environ.get("LOCKSTEP_RECEIPTS")
    return Path(own) if own else paths.out_dir() / "receipts"


def load(folder: Path) -> list[Receipt]:
    """Read every receipt of a folder, in the order in which the runs started."""
    if not folder.is_dir():
        raise LockstepError(
            f"there are no receipts at {folder}; make some with `make demo`, or pass --receipts"
        )
    receipts: dict[str, Receipt] = {}
    for path in sorted(folder.glob("*.json")):
        receipt = read(path)
        if receipt.step in receipts:
            raise LockstepError(f"{path} is a second receipt of {receipt.step}; remove one of them")
        receipts[receipt.step] = receipt
    if not receipts:
        raise LockstepError(f"{folder} has no receipts (*.json); make some with `make demo`")
    return sorted(receipts.values(), key=lambda one: (one.timeline.started, one.step))


def read(path: Path) -> Receipt:
    """Read one receipt, or raise an error that names the file and the wrong field."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Receipt)
    except msgspec.ValidationError as error:
        raise LockstepError(
            f"{path} is not a receipt: {error}; remove it or run the scenario again"
        ) from error
    except (OSError, ValueError) as error:
        raise LockstepError(
            f"{path} cannot be read as JSON ({error}); remove it or run the scenario again"
        ) from error


def schema() -> dict[str, Any]:
    """The JSON Schema of a receipt, generated from `Receipt`."""
    generated = msgspec.json.schema(Receipt)
    address = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": address, "$id": "urn:lockstep.dev:receipt:v1", **generated}


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _public(inner) for key, inner in value.items() if key not in _PRIVATE}
    if isinstance(value, list | tuple):
        return [_public(inner) for inner in value]
    return value
