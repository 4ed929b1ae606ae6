"""The user's kubeconfig: found and merged as kubectl does, and reduced to the context in use.

Imports no client library, so that the Pulumi program starts quickly.
"""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from lockstep.errors import LockstepError

Config = dict[str, Any]

_SECTIONS = {"contexts": "context", "clusters": "cluster", "users": "user"}
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def files(given: str | None = None) -> list[Path]:
    """The kubeconfig files that kubectl would read, without those that do not exist.

    They are the given file, or else those of $KUBECONFIG, or else ~/.kube/config.
    """
    return [path for path in _candidates(given) if path.is_file()]


def _candidates(given: str | None) -> list[Path]:
    listed = [part for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    names = [given] if given else listed or ["~/.kube/config"]
    return [Path(name).expanduser().absolute() for name in names]


def load(given: str | None = None) -> Config:
    """Merge the files as kubectl does: of two entries with one name, the first counts.

    Paths in the result are absolute.
    """
    found = files(given)
    if not found:
        raise LockstepError(
            f"there is no kubeconfig at {_candidates(given)[0]}; "
            "set KUBECONFIG or lockstep:kubeconfig to the path of yours, or pass --kubeconfig"
        )
    merged: Config = {"apiVersion": "v1", "kind": "Config"}
    for path in found:
        config = _read(path)
        if not merged.get("current-context"):
            merged["current-context"] = config.get("current-context")
        for plural, singular in _SECTIONS.items():
            known = merged.setdefault(plural, [])
            known += [
                _absolute(entry, singular, path.parent)
                for entry in config.get(plural) or []
                if _named(merged, plural, entry.get("name")) is None
            ]
    return merged


def find(given: str | None, context: str) -> Path:
    """The file that has a context, for programs that take one file."""
    for path in files(given):
        if _named(_read(path), "contexts", context):
            return path
    config = load(given)
    known = ", ".join(entry["name"] for entry in config["contexts"]) or "none"
    where = os.pathsep.join(map(str, files(given)))
    raise LockstepError(f"there is no context {context!r} in {where}; its contexts: {known}")


def only(path: Path, context: str) -> str:
    """The part of a file that one context needs, without the credentials of other contexts."""
    config = load(str(path))
    wanted = _named(config, "contexts", context)
    details = (wanted or {}).get("context") or {}
    cluster = _named(config, "clusters", details.get("cluster"))
    user = _named(config, "users", details.get("user"))
    if wanted is None or cluster is None:
        raise LockstepError(
            f"context {context!r} in {path} names a cluster that is not in that file; "
            "write both into one file with `kubectl config view --flatten`"
        )
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [wanted],
            "clusters": [cluster],
            "users": [user] if user else [],
        },
        sort_keys=False,
    )


def remove_copies(path: Path) -> None:
    """Remove the copies of a cluster's kubeconfig among the temporary files.

    Pulumi's Kubernetes plugin writes a copy whenever it starts and never removes it.
    """
    text = path.read_bytes() if path.exists() else b""
    found = re.search(rb"certificate-authority-data: (\S+)", text)
    if found is None:
        return
    authority = found[1]  # each cluster has a certificate authority of its own
    for copy in Path(tempfile.gettempdir()).glob("kubeconfig[0-9]*"):
        with suppress(OSError):  # another user's copy, or removed meanwhile
            if authority in copy.read_bytes():
                copy.unlink()


def _read(path: Path) -> Config:
    try:
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise LockstepError(f"cannot read the kubeconfig {path}: {error}") from error
    if not isinstance(config, dict):
        raise LockstepError(f"{path} is not a kubeconfig")
    return config


def _named(config: Config, section: str, name: str | None) -> Config | None:
    return next((entry for entry in config.get(section) or [] if entry.get("name") == name), None)


def _absolute(entry: Config, key_of_details: str, folder: Path) -> Config:
    """Make the paths in an entry absolute: they are relative to the kubeconfig's folder."""
    details = dict(entry.get(key_of_details) or {})
    for key in _FILES:
        if details.get(key):
            details[key] = str(folder / details[key])
    return {**entry, key_of_details: details}
