"""The node image of kind, for machines that can reach package registries but no image registry.

Debian packages make the node's system, Go modules everything that runs on it; kind's own node files
come out of kind's Go module. The container images that a stack needs are inside, so a cluster made
from it pulls nothing. Where an image registry can be reached, kind's public image serves.
"""

from __future__ import annotations

from toolchain.kind_image.recipe import REPOSITORY, image_name
from toolchain.kind_image.store import find

__all__ = ["REPOSITORY", "find", "image_name"]
