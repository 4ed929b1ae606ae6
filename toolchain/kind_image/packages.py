"""Debian packages on this machine: the Docker engine and debootstrap, where they are missing."""

from __future__ import annotations

import shutil

from lockstep.errors import LockstepError
from toolchain.kind_image.console import Console

QUIET = {"DEBIAN_FRONTEND": "noninteractive"}


def install(console: Console, package: str) -> None:
    """Install a package; the lists are updated only when that is what it takes."""
    if shutil.which("apt-get") is None:
        raise LockstepError(
            f"there is no apt-get here to install {package} with; build the image on Debian or "
            "Ubuntu, or install it by hand"
        )
    what = f"installing {package}"
    command = ["apt-get", "install", "--yes", "--no-install-recommends", package]
    try:
        console.run(what, command, environment=QUIET)
    except LockstepError:
        console.run("updating the package lists", ["apt-get", "update"], environment=QUIET)
        console.run(what, command, environment=QUIET)
