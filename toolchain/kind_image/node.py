"""The node image: the root folder as an image, with the container images imported into it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lockstep import versions
from toolchain import catalogue
from toolchain.kind_image import recipe, root, store
from toolchain.kind_image.archive import write_root
from toolchain.kind_image.console import Console

CONTAINERD_WITHIN = 30

# What kind itself does: import without unpacking, since a snapshot cannot be made inside a layer.
PRELOAD = f"""\
containerd </dev/null >/var/log/containerd.log 2>&1 &
for _ in $(seq {CONTAINERD_WITHIN * 10}); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
ctr --namespace k8s.io images import --all-platforms --no-unpack - || exit 1
while [ $# -gt 0 ]; do ctr --namespace k8s.io images tag "$1" "$2" || exit 1; shift 2; done
kill $!; wait $!; rm /var/log/containerd.log
"""


def load_root(console: Console, folder: Path, scratch: Path) -> str:
    """Make Docker know the root folder as an image, under a name for building only."""
    name = f"{recipe.REPOSITORY}:building"
    store.remove(name)  # left by a run that failed
    file = scratch / "root.tar"
    write_root(file, name, folder, root.CONFIG, catalogue.architecture())
    console.run("loading the node's root into Docker", ["docker", "load", "--input", file])
    file.unlink()
    return name


def preload(console: Console, base: str, images: Path, name: str) -> None:
    """Import the container images into a container of the base, and commit that as the image."""
    with _container(console, base) as container:
        inside = ["docker", "exec", "--interactive", container, "sh", "-c", PRELOAD, "sh"]
        names = [name for alias in aliases() for name in alias]
        with images.open("rb") as archive:
            console.run("importing container images", [*inside, *names], stdin=archive)
        console.run(
            "saving the node image",
            [
                *("docker", "commit"),
                *("--change", 'ENTRYPOINT [ "/usr/local/bin/entrypoint", "/sbin/init" ]'),
                *("--change", "CMD []"),
                *(container, name),
            ],
        )


def aliases() -> list[tuple[str, str]]:
    """Names that an archive cannot carry: the workload is asked for by the public image's digest.

    What stands in for it here has another digest; containerd looks for the name.
    """
    tagged, _, digest = versions.WORKLOAD_IMAGE.partition("@")
    repository = tagged.rpartition(":")[0]
    return [(tagged, f"{repository}@{digest}")] if digest else []


@contextlib.contextmanager
def _container(console: Console, image: str) -> Iterator[str]:
    name = f"lockstep-kind-image-{os.getpid()}"
    console.run(
        "starting a container to build in",
        [
            *("docker", "run", "--detach", "--name", name, "--entrypoint", "sleep"),
            *("--network", "none", "--security-opt", "seccomp=unconfined"),
            *(image, "infinity"),
        ],
    )
    try:
        yield name
    finally:
        subprocess.run(
            ["docker", "rm", "--force", "--volumes", name], capture_output=True, check=False
        )
