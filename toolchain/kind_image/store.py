"""The image in Docker's store: whether it is there, and taking it out."""

from __future__ import annotations

import shutil
import subprocess

from toolchain.kind_image.recipe import REPOSITORY, image_name

ANSWER_WITHIN = 30


def find() -> str | None:
    """The name of the node image that was built here from these very sources, if there is one."""
    name = image_name()
    return name if has(name) else None


def has(name: str) -> bool:
    """Whether Docker answers, and has the image."""
    return shutil.which("docker") is not None and _docker("image", "inspect", name).returncode == 0


def all_built() -> list[str]:
    """Every node image that was built here, of whatever sources."""
    listed = _docker("image", "ls", "--format", "{{.Repository}}:{{.Tag}}", REPOSITORY)
    return listed.stdout.split() if listed.returncode == 0 else []


def remove(name: str) -> bool:
    """Remove an image; False when a container still uses it."""
    return _docker("image", "rm", name).returncode == 0


def _docker(*words: str) -> subprocess.CompletedProcess[str]:
    command = ["docker", *words]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=ANSWER_WITHIN, check=False
        )
    except subprocess.TimeoutExpired:  # an engine that hangs has nothing for us
        return subprocess.CompletedProcess(command, 1, "", "")
