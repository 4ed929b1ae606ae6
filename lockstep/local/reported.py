"""What Volcano and LWS report about themselves: versions, and LWS's scheduler provider."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
from lightkube import Client
from lightkube.resources.core_v1 import Pod

from lockstep import paths, processes
from lockstep.kube.client import ALL_NS, FAILURES
from lockstep.lws import names
from lockstep.recording.scheduler import LABELS

_VERSION = re.compile(r'"gitVersion": "v?(?P<value>[^"]+)"')
_PROVIDER = re.compile(r'Gang scheduling enabled.*"provider": "(?P<value>[^"]+)"')
_MOST_LINES = 200
_LWS_LABELS: dict[str, Any] = {"control-plane": "controller-manager"}


def platform(client: Client, folder: Path, ran: dict[str, Any] | None) -> dict[str, Any]:
    """Complete what the scheduler ran with the versions, and with what LWS says of itself.

    `folder` is the cluster's folder on this machine: an embedded cluster has its operators there.
    """
    scheduler = {**((ran or {}).get("scheduler") or {})}
    if version := _scheduler_version(client, folder):
        scheduler["version"] = version
    return {"scheduler": scheduler, "lws": lws(_lws_log(client, folder))}


def lws(lines: Iterable[str]) -> dict[str, str | None]:
    """Read the version and the provider of the LWS process that wrote a log last."""
    version: str | None = None
    provider: str | None = None
    for line in lines:
        if match := _VERSION.search(line):
            version, provider = match["value"], None
        elif match := _PROVIDER.search(line):
            provider = match["value"]
    return {"version": version, "provider": provider}


def _lws_log(client: Client, folder: Path) -> Iterator[str]:
    file = paths.program_log(folder, "lws-manager")
    try:
        if file.exists():
            with file.open(encoding="utf-8", errors="replace") as log:
                yield from log
            return
        for pod in client.list(Pod, namespace=names.NAMESPACE, labels=_LWS_LABELS):
            if pod.metadata and pod.metadata.name:
                log_lines = client.log(pod.metadata.name, namespace=names.NAMESPACE)
                for number, line in enumerate(log_lines):
                    yield line
                    if number > _MOST_LINES:
                        break  # both are in the first lines
    except FAILURES:
        return


def _scheduler_version(client: Client, folder: Path) -> str:
    """The version that the scheduler's program prints, or the tag of its image."""
    running = processes.named(folder, "vc-scheduler") if folder.exists() else []
    if running:
        return _printed_version(running[0])
    try:
        pods = client.list(Pod, namespace=ALL_NS, labels=LABELS)
        images = [one.image or "" for pod in pods if pod.spec for one in pod.spec.containers]
    except FAILURES:
        return ""
    return images[0].rpartition(":")[2].removeprefix("v") if images else ""


def _printed_version(process: psutil.Process) -> str:
    """The version that a process's program prints; empty if the process or program is gone."""
    try:
        done = subprocess.run(
            [process.exe(), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except (psutil.Error, OSError):
        return ""
    found = re.search(r"^Version: v?(\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else ""
