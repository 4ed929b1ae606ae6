"""Image archives: what a container engine will find in them."""

from __future__ import annotations

import gzip
import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

from toolchain.kind_image import archive
from toolchain.kind_image.archive import Entry, Image


def read(file: Path) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    with tarfile.open(file) as tar:
        members = {m.name: tar.extractfile(m).read() for m in tar}  # type: ignore[union-attr]
    return json.loads(members["manifest.json"]), members


def layer(content: bytes) -> dict[str, tarfile.TarInfo]:
    import io

    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return {member.name: member for member in tar}


def write(tmp_path: Path, *images: Image) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    archive.write(tmp_path / "images.tar", images, "amd64", lambda: None)
    return read(tmp_path / "images.tar")


def test_image_has_its_names_config_and_processor(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("x")
    image = Image(("a/b:1", "a/c:1"), ((Entry("/p", program),),), {"User": "65535:65535"})
    manifest, members = write(tmp_path, image)
    assert manifest[0]["RepoTags"] == ["a/b:1", "a/c:1"]
    config = json.loads(members[manifest[0]["Config"]])
    assert config["architecture"] == "amd64"
    assert config["config"]["User"] == "65535:65535"


def test_layer_is_named_by_its_uncompressed_content(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"x" * 4096)
    manifest, members = write(tmp_path, Image(("a:1",), ((Entry("/bin/p", program),),), {}))
    stored = members[manifest[0]["Layers"][0]]
    assert stored[:2] == b"\x1f\x8b"  # gzip: every node keeps a copy of it
    config = json.loads(members[manifest[0]["Config"]])
    digest = hashlib.sha256(gzip.decompress(stored)).hexdigest()
    assert config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]


def test_layer_holds_files_links_and_folders(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("run me")
    entries = (
        Entry("/usr/bin/p", program),
        Entry("/usr/bin/q", link="p"),
        Entry("/tmp", mode=0o1777),
        Entry("/etc/c", program, mode=0o644),
    )
    manifest, members = write(tmp_path, Image(("a:1",), (entries,), {}))
    found = layer(gzip.decompress(members[manifest[0]["Layers"][0]]))
    assert found["usr/bin/p"].mode == 0o755
    assert found["usr/bin/p"].size == len("run me")
    assert found["usr/bin/q"].linkname == "p"
    assert (found["tmp"].isdir(), found["tmp"].mode) == (True, 0o1777)
    assert found["etc/c"].mode == 0o644
    assert found["usr"].isdir()
    assert found["usr/bin"].isdir()
    assert {(member.uid, member.gid, member.mtime) for member in found.values()} == {(0, 0, 0)}


def test_shared_layer_is_stored_once(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("tool")
    shared = (Entry("/tool", tool),)
    first = Image(("a:1",), (shared, (Entry("/a", tool),)), {})
    second = Image(("b:1",), (shared, (Entry("/b", tool),)), {})
    manifest, members = write(tmp_path, first, second)
    assert manifest[0]["Layers"][0] == manifest[1]["Layers"][0]
    assert len([name for name in members if name.endswith(".tar")]) == 3


def test_same_content_gives_the_same_archive(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("x")
    image = Image(("a:1",), ((Entry("/p", program),),), {})
    write(tmp_path, image)
    before = (tmp_path / "images.tar").read_bytes()
    program.touch()
    write(tmp_path, image)
    assert (tmp_path / "images.tar").read_bytes() == before


def test_root_folder_becomes_one_layer_with_its_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "usr/bin").mkdir(parents=True)
    (root / "bin").symlink_to("usr/bin")
    (root / "usr/bin/init").write_text("init")
    archive.write_root(tmp_path / "r.tar", "n:1", root, {"StopSignal": "SIGRTMIN+3"}, "arm64")
    manifest, members = read(tmp_path / "r.tar")
    config = json.loads(members[manifest[0]["Config"]])
    assert config["config"]["StopSignal"] == "SIGRTMIN+3"
    found = layer(members[manifest[0]["Layers"][0]])
    assert found["./bin"].linkname == "usr/bin"
    assert found["./usr/bin/init"].size == 4
