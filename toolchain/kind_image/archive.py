"""Container images as files, in the format that `docker load` and `ctr images import` read."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

QUICKEST = 1
CHUNK = 1 << 20


@dataclass(frozen=True)
class Entry:
    """One file, link or folder of an image."""

    path: str
    """Absolute, inside the image."""
    source: Path | None = None
    """The file to copy; None for a link or a folder."""
    link: str | None = None
    mode: int = 0o755


@dataclass(frozen=True)
class Image:
    """A container image: layers from the bottom up, and how a container starts."""

    names: tuple[str, ...]
    layers: tuple[tuple[Entry, ...], ...]
    """Images that have the same layer share it."""
    config: Mapping[str, Any]


@dataclass(frozen=True)
class _Stored:
    member: str
    diff_id: str


def write(
    target: Path, images: Iterable[Image], architecture: str, tick: Callable[[], None]
) -> None:
    """Write all images into one archive."""
    with tarfile.open(target, "w") as archive:
        stored: dict[tuple[Entry, ...], _Stored] = {}
        manifest = []
        for image in images:
            for layer in image.layers:
                if layer not in stored:
                    stored[layer] = _store_layer(archive, layer)
                    tick()
            layers = [stored[layer] for layer in image.layers]
            manifest.append(_describe(archive, image.names, image.config, layers, architecture))
        _add_bytes(archive, "manifest.json", _json(manifest))


def write_root(
    target: Path, name: str, root: Path, config: Mapping[str, Any], architecture: str
) -> None:
    """Write an image whose one layer is a whole root folder."""
    with tarfile.open(target, "w") as archive:
        layer = _store(archive, lambda tar: tar.add(root, arcname="."), compress=False)
        manifest = [_describe(archive, (name,), config, [layer], architecture)]
        _add_bytes(archive, "manifest.json", _json(manifest))


def _store_layer(archive: tarfile.TarFile, layer: Sequence[Entry]) -> _Stored:
    def fill(tar: tarfile.TarFile) -> None:
        for folder in _folders(layer):
            tar.addfile(_info(folder, 0o755, tarfile.DIRTYPE))
        for entry in layer:
            _add_entry(tar, entry)

    return _store(archive, fill, compress=True)


def _store(
    archive: tarfile.TarFile, fill: Callable[[tarfile.TarFile], None], *, compress: bool
) -> _Stored:
    """Add a layer; the image names it by the digest of its content before compression."""
    with tempfile.TemporaryFile(dir=Path(str(archive.name)).parent) as file:
        raw = (
            gzip.GzipFile(fileobj=file, mode="wb", compresslevel=QUICKEST, mtime=0)
            if compress
            else None
        )
        digesting = _Digesting(raw or file)
        with tarfile.open(fileobj=digesting, mode="w|") as tar:
            fill(tar)
        if raw:
            raw.close()
        size = file.tell()
        file.seek(0)
        member = f"{digesting.digest.hexdigest()}.tar"
        info = _info(member, 0o644)
        info.size = size
        archive.addfile(info, file)
    return _Stored(member, f"sha256:{digesting.digest.hexdigest()}")


class _Digesting(io.RawIOBase):
    """Hands what is written on, and keeps its digest."""

    def __init__(self, target: IO[bytes] | gzip.GzipFile) -> None:
        self._target = target
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self._target.write(data)
        return len(data)


def _describe(
    archive: tarfile.TarFile,
    names: Sequence[str],
    config: Mapping[str, Any],
    layers: Sequence[_Stored],
    architecture: str,
) -> dict[str, Any]:
    text = _json(
        {
            "architecture": architecture,
            "os": "linux",
            "config": dict(config),
            "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
        }
    )
    member = f"{hashlib.sha256(text).hexdigest()}.json"
    _add_bytes(archive, member, text)
    return {
        "Config": member,
        "RepoTags": list(names),
        "Layers": [layer.member for layer in layers],
    }


def _folders(layer: Sequence[Entry]) -> list[str]:
    """The folders that the entries are in, parents first."""
    own = {entry.path for entry in layer if entry.source is None and entry.link is None}
    above = {str(folder) for entry in layer for folder in Path(entry.path).parents}
    return sorted(above - own - {"/"})


def _add_entry(tar: tarfile.TarFile, entry: Entry) -> None:
    if entry.link is not None:
        info = _info(entry.path, 0o777, tarfile.SYMTYPE)
        info.linkname = entry.link
        tar.addfile(info)
    elif entry.source is None:
        tar.addfile(_info(entry.path, entry.mode, tarfile.DIRTYPE))
    else:
        info = _info(entry.path, entry.mode)
        info.size = entry.source.stat().st_size
        with entry.source.open("rb") as content:
            tar.addfile(info, content)


def _info(path: str, mode: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    """A header without owner or time, so that the same content has the same digest."""
    info = tarfile.TarInfo(path.lstrip("/"))
    info.mode = mode
    info.type = kind
    return info


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = _info(name, 0o644)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def _json(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True).encode()
