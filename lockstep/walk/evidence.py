"""Evidence of a failed update: the receipts, recordings and logs of its scenarios."""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep import paths
from lockstep.recording import model
from lockstep.recording.client import log_file


@dataclass(frozen=True)
class Evidence:
    """Where the evidence is."""

    receipts: Sequence[Path] = ()
    recordings: Sequence[Path] = ()
    logs: Sequence[Path] = ()
    """Files, and folders of files."""

    def rows(self) -> list[tuple[str, str]]:
        """Return a row of a label and a path for each file or folder."""
        kinds = {"receipt": self.receipts, "recording": self.recordings, "logs": self.logs}
        return [(kind, paths.shown(path)) for kind, found in kinds.items() for path in found]

    def to_mapping(self) -> dict[str, list[str]]:
        """Return the paths for `--json`."""
        kinds = {"receipts": self.receipts, "recordings": self.recordings, "logs": self.logs}
        return {kind: [str(path) for path in found] for kind, found in kinds.items()}


def recordings(cluster: str, since: float) -> list[Path]:
    """Return the recordings of a cluster to which something was added since a time."""
    folder = model.path_of(cluster, "any").parent
    return sorted(path for path in folder.glob("*.jsonl") if path.stat().st_mtime >= since)


def logs_folder(cluster: str) -> list[Path]:
    """Return the folder with the logs of an embedded cluster's programs; nothing for others."""
    folder = paths.programs_dir(paths.cluster_dir(cluster))
    return [folder] if folder.is_dir() else []


def copy(cluster: str, scenario: str, since: float, folder: Path) -> list[Path]:
    """Copy a scenario's recording and all logs to a folder, where they outlive the cluster.

    Only recordings and logs are copied: there are credentials beside them. The result is the
    recording's copy, if there is a recording.
    """
    found = [path for path in recordings(cluster, since) if path.stem == scenario]
    _copy(found, folder)
    _copy((log_file(path) for path in found), folder)
    for logs in logs_folder(cluster):
        _copy(sorted(logs.glob("*.log")), folder)
    return [folder / path.name for path in found]


def _copy(files: Iterable[Path], folder: Path) -> None:
    for file in files:
        if file.is_file() and file.stat().st_size:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(file, paths.private_file(folder / file.name))
