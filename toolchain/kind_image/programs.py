"""The programs and upstream files that go into the node image, as the toolchain made them."""

from __future__ import annotations

from pathlib import Path

import toolchain
from lockstep.errors import LockstepError
from toolchain import cache, catalogue
from toolchain.kind_image.recipe import NODE_GROUP


def program(name: str) -> Path:
    """A program for an image without libraries: it must need none."""
    path = toolchain.tool(name)
    if b"ld-linux" in path.read_bytes()[:4096]:
        raise LockstepError(
            f"{path} needs shared libraries and cannot go into an image; take it off PATH, so that "
            "the toolchain's own is used"
        )
    return path


def node_file(path: str) -> Path:
    """A file that the toolchain took out of an upstream Go module."""
    return cache.folder(catalogue.groups()[NODE_GROUP]) / "files" / path
