"""The user's kubeconfig: found as kubectl finds it, and cut down to the one context in use."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from lockstep.errors import LockstepError

_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def find(given: str | None) -> Path:
    """Take the path that was given, or else $KUBECONFIG, or else ~/.kube/config."""
    listed = os.environ.get("KUBECONFIG", "").split(os.pathsep)
    candidates = [given] if given else [*filter(None, listed), "~/.kube/config"]
    for candidate in candidates:
        path = Path(candidate).expanduser().absolute()
        if path.is_file():
            return path
    raise LockstepError(
        f"there is no kubeconfig at {candidates[0]}; set lockstep:kubeconfig to the path of yours"
    )


def only(path: Path, context: str) -> str:
    """Keep what one context needs: the rest of the file is none of our business."""
    config = _load(path)
    wanted = _named(config, "contexts", context)
    if wanted is None:
        known = ", ".join(entry["name"] for entry in config.get("contexts") or []) or "none"
        raise LockstepError(f"there is no context {context!r} in {path}; it has: {known}")
    details = wanted.get("context") or {}
    cluster = _named(config, "clusters", details.get("cluster"))
    user = _named(config, "users", details.get("user"))
    if cluster is None:
        raise LockstepError(f"context {context!r} in {path} names a cluster that is not there")
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [wanted],
            "clusters": [_absolute(cluster, "cluster", path.parent)],
            "users": [_absolute(user, "user", path.parent)] if user else [],
        },
        sort_keys=False,
    )


def remove_copies(path: Path) -> None:
    """Remove the copies of a cluster's kubeconfig that Pulumi left among the temporary files.

    The Kubernetes plugin writes one whenever it starts, and removes none.
    """
    text = path.read_bytes() if path.exists() else b""
    found = re.search(rb"certificate-authority-data: (\S+)", text)
    if found is None:
        return
    authority = found[1]  # each cluster has its own
    for copy in Path(tempfile.gettempdir()).glob("kubeconfig[0-9]*"):
        with suppress(OSError):  # another user's, or gone by now
            if authority in copy.read_bytes():
                copy.unlink()


def _load(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise LockstepError(f"cannot read the kubeconfig {path}: {error}") from error
    if not isinstance(config, dict):
        raise LockstepError(f"{path} is not a kubeconfig")
    return config


def _named(config: dict[str, Any], kind: str, name: str | None) -> dict[str, Any] | None:
    return next((entry for entry in config.get(kind) or [] if entry.get("name") == name), None)


def _absolute(entry: dict[str, Any], kind: str, folder: Path) -> dict[str, Any]:
    """Paths in a kubeconfig are relative to its folder: make them hold anywhere."""
    details = dict(entry.get(kind) or {})
    for key in _FILES:
        if details.get(key):
            details[key] = str(folder / details[key])
    return {**entry, kind: details}
