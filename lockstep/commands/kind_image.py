"""`lockstep kind-image`: build kind's node image; `make kind-image` runs this."""

import argparse

from toolchain.kind_image import build

HELP = "build kind's node image where no image registry can be reached (root, Docker)"


def configure(_: argparse.ArgumentParser) -> None:
    """The command has no options."""


def run(_: argparse.Namespace) -> int:
    """Build the image and print the command that makes a stack use it."""
    name = build.build()
    print(f"Docker has the node image. To use it: pulumi config set lockstep:kindNodeImage {name}")
    return 0
