"""Receipts: what a scenario did and how it was judged, as one JSON document to keep and share.

`receipt.schema.json` beside this file is the contract. A receipt goes into pull requests and
chats, so it holds no credentials and no paths of the machine that made it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.recording import timeline
from lockstep.report import json_schema

if TYPE_CHECKING:
    from lockstep.recording.model import Recording

SCHEMA = "lockstep.dev/receipt/v1"
Receipt = dict[str, Any]

# Settings that say where the credentials are; a context's name often holds account numbers.
_PRIVATE = frozenset({"kubeconfig", "kubeconfigPath", "kubeContext", "kube_context"})


def build(
    recording: Recording,
    expectation: Mapping[str, Any],
    verdict: Mapping[str, Any],
    context: Mapping[str, Any],
) -> Receipt:
    """Make a receipt; `context` has versions, config and cluster, and may have step and createdAt.

    `expectation` is `judge.Expectation` as a dictionary, `verdict` the contract of the stack's
    `verdicts` output with a `reason`.
    """
    told = timeline.build(recording)
    rest = {name: value for name, value in verdict.items() if name != "evidence"}
    return {
        "schema": SCHEMA,
        "scenario": expectation["scenario"],
        "step": context.get("step") or _step(expectation),
        "createdAt": context.get("createdAt") or instant(datetime.now(UTC)),
        "versions": dict(context.get("versions", {})),
        "config": _public(context.get("config", {})),
        "cluster": {key: context["cluster"][key] for key in ("name", "provider")},
        "workers": timeline.workers(recording) or list(context.get("workers", ())),
        "expectation": dict(expectation),
        "verdict": {"reason": "", **rest},
        "timeline": told,
        "evidence": [str(fact) for fact in verdict.get("evidence", ())],
    }


def write(path: Path, receipt: Receipt) -> None:
    """Write a receipt whole or not at all; anyone may read it."""
    check(receipt, str(path.name))
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(receipt, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def home() -> Path:
    """Where receipts are kept: `LOCKSTEP_RECEIPTS`, or `out/receipts` of the checkout."""
    own = os.environ.get("LOCKSTEP_RECEIPTS")
    return Path(own) if own else paths.project_dir() / "out" / "receipts"


def load(folder: Path) -> list[Receipt]:
    """Read every receipt of a folder, in the order in which the runs started."""
    if not folder.is_dir():
        raise LockstepError(
            f"no receipts at {folder}; make some with `make demo`, or pass --receipts"
        )
    receipts: dict[str, Receipt] = {}
    for path in sorted(folder.glob("*.json")):
        receipt = read(path)
        if receipt["step"] in receipts:
            raise LockstepError(f"{path} is a second receipt of {receipt['step']}; remove one")
        receipts[receipt["step"]] = receipt
    if not receipts:
        raise LockstepError(f"{folder} has no receipts (*.json); make some with `make demo`")
    return sorted(receipts.values(), key=lambda one: (one["timeline"]["started"], one["step"]))


def read(path: Path) -> Receipt:
    """Read one receipt, or say what is wrong with the file."""
    try:
        receipt = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LockstepError(
            f"{path} cannot be read as JSON ({error}); remove it or run again"
        ) from error
    check(receipt, str(path))
    return dict(receipt)


def check(receipt: Any, where: str) -> None:
    """Raise the first fault of a receipt against the schema."""
    for fault in json_schema.faults(receipt, schema()):
        raise LockstepError(
            f"{where} is not a receipt: {fault}; remove it or run the scenario again"
        )


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a receipt."""
    text = Path(__file__).with_suffix(".schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def instant(moment: datetime) -> str:
    """Write a moment as receipts do: UTC, to the millisecond."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _step(expectation: Mapping[str, Any]) -> str:
    """Name the receipt: a release is a step of its own, beside the held state before it."""
    scenario, verdict = str(expectation["scenario"]), str(expectation["verdict"])
    return f"{scenario}-released" if verdict == "released" else scenario


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _public(inner) for key, inner in value.items() if key not in _PRIVATE}
    if isinstance(value, list | tuple):
        return [_public(inner) for inner in value]
    return value
