"""The node image: the root folder as an image, with the container images imported into it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from lockstep import versions
from lockstep.kind_image import recipe, root
from lockstep.kind_image.archive import write_root
from lockstep.kind_image.console import Console
from lockstep.toolchain import catalogue

CONTAINERD_WITHIN = 30

# What kind itself does: import without unpacking, since a snapshot cannot be made inside a layer.
IMPORT = "ctr --namespace k8s.io images import --all-platforms --no-unpack --digests -"
START = f"""\
containerd >/tmp/containerd.log 2>&1 &
for _ in $(seq {CONTAINERD_WITHIN * 10}); do ctr version >/dev/null 2>&1 && exit 0; sleep 0.1; done
cat /tmp/containerd.log >&2; exit 1
"""
STOP = "pkill --exact containerd; while pgrep --exact containerd; do sleep 0.1; done; rm -rf /tmp/*"


def load_root(console: Console, folder: Path, scratch: Path) -> str:
    """Make Docker know the root folder as an image, under a name for building only."""
    name = f"{recipe.REPOSITORY}:building"
    file = scratch / "root.tar"
    write_root(file, name, folder, root.CONFIG, catalogue.architecture())
    console.run("loading the node's root into Docker", ["docker", "load", "--input", file])
    file.unlink()
    return name


def preload(console: Console, base: str, images: Path, name: str) -> None:
    """Import the container images into a container of the base, and commit that as the image."""
    with _container(console, base) as container:
        inside = ["docker", "exec", "--interactive", container, "sh", "-c"]
        console.run("starting containerd in the node", [*inside, START])
        with images.open("rb") as archive:
            console.run("importing container images", [*inside, IMPORT], stdin=archive)
        for alias in aliases():
            tag = ["docker", "exec", container, "ctr", "--namespace", "k8s.io", "images", "tag"]
            console.run("naming a container image", [*tag, *alias])
        console.run("stopping containerd in the node", [*inside, STOP])
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
