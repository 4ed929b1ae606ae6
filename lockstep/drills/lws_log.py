"""LWS's own words: the log of its manager, in a pod or as a process of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lightkube import Client
from lightkube.resources.core_v1 import Pod

from lockstep.lws.rights import NAMESPACE

_LABELS: dict[str, Any] = {"control-plane": "controller-manager"}
_RECENT = 30
_REFUSAL = re.compile(r'(podgroups\.scheduling\.volcano\.sh\b[^{}]*?is forbidden: .*?)"?[,}\n]')


class LwsLog:
    """The log from now on."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._file = folder / "operators" / "lws" / "lws-manager.log"
        self._read = self._file.stat().st_size if self._file.exists() else 0

    def refusal(self, namespace: str) -> str | None:
        """The newest error of LWS about PodGroups that it may not make in a namespace."""
        found = [line for line in self._lines() if "forbidden" in line and namespace in line]
        words = [match[1] for line in found if (match := _REFUSAL.search(line + "\n"))]
        return words[-1].replace('\\"', '"') if words else None

    def _lines(self) -> Iterable[str]:
        if self._file.exists():
            with self._file.open(encoding="utf-8", errors="replace") as file:
                # A log that was begun anew is shorter than what was read of the old one.
                file.seek(self._read if self._file.stat().st_size >= self._read else 0)
                yield from file
            return
        for pod in self._client.list(Pod, namespace=NAMESPACE, labels=_LABELS):
            if pod.metadata and pod.metadata.name:
                yield from self._client.log(
                    pod.metadata.name, namespace=NAMESPACE, since=_RECENT, newlines=False
                )
