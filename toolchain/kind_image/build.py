"""Building the node image, step by step; a step that is done is not done again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import toolchain
from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue
from toolchain.kind_image import archive, engine, images, node, packages, recipe, root, store
from toolchain.kind_image.console import Console
from toolchain.kind_image.programs import program
from toolchain.progress import Progress, duration

GIGABYTES = 5
STEPS = 5


def work_dir() -> Path:
    """What is being built; removed when the image is there."""
    return paths.cache_dir() / "kind-image"


def build(progress: Progress | None = None) -> str:
    """Make the image present and return its name; an engine that was not there runs afterwards."""
    lines = progress or Progress()
    name = recipe.image_name()
    if engine.is_running() and store.has(name):
        return name
    check_machine()
    with cache.lock("kind-image", lambda: lines.note("another run builds it; waiting for it")):
        toolchain.ensure(recipe.groups())
        _Build(lines).run(name)
    return name


def check_machine() -> None:
    """Raise when the image cannot be built here."""
    if not sys.platform.startswith("linux"):
        raise LockstepError(
            "the node image is built on Linux; elsewhere kind's public image serves"
        )
    if os.geteuid() != 0:
        raise LockstepError(
            "building the node image needs root, to install packages and run Docker; try sudo"
        )
    work_dir().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(work_dir()).free / 10**9
    if free < GIGABYTES:
        raise LockstepError(
            f"building the node image needs {GIGABYTES} GB of disk in {work_dir()} and "
            f"{free:.1f} GB are free: free some space, or set LOCKSTEP_CACHE to another folder"
        )


class _Build:
    """One run."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._console = Console(progress.tick)
        self._began = time.monotonic()

    def run(self, name: str) -> None:
        self._progress.expect(STEPS)
        self._engine()
        if store.has(name):  # built by another run, or before the engine was stopped
            return
        self._progress.note(f"building {name}; log: {self._console.log}")
        folder = work_dir() / recipe.root_name()
        self._step("Debian root", "installing packages", lambda: self._debian(folder))
        self._step("node", "adding Kubernetes", lambda: root.furnish(self._console, folder))
        packed = work_dir() / "images.tar"
        self._step("container images", "packing", lambda: self._pack(folder, packed))
        self._step("node image", "loading into Docker", lambda: self._load(folder, packed, name))
        shutil.rmtree(work_dir())
        elapsed = duration(time.monotonic() - self._began)
        self._progress.note(f"{name} is ready ({_megabytes(name)} MB), after {elapsed}")

    def _engine(self) -> None:
        self._progress.start("Docker", "looking for the engine")
        if not engine.is_running():
            if not engine.is_installed():
                self._install("docker.io")
            engine.start(program("kind-runtime"), self._progress.tick)
            self._progress.note("started Docker; `python -m lockstep kind-image --stop` ends it")
        engine.check_privileged()
        self._progress.finish("ready")

    def _debian(self, folder: Path) -> None:
        if shutil.which("debootstrap") is None:
            self._install("debootstrap")
        root.bootstrap(self._console, folder)

    def _install(self, package: str) -> None:
        self._progress.note(f"installing the Debian package {package} on this machine")
        packages.install(self._console, package)

    def _pack(self, folder: Path, packed: Path) -> None:
        packing = images.all_images(folder)
        listing = ["kubeadm", "config", "images", "list"]
        version = ["--kubernetes-version", f"v{versions.KUBERNETES}"]
        required = self._console.ask(["chroot", str(folder), *listing, *version]).split()
        if absent := images.missing(required, packing):
            raise LockstepError(f"kubeadm asks for {', '.join(absent)}; adapt lockstep/versions.py")
        archive.write(packed, packing, catalogue.architecture(), self._progress.tick)

    def _load(self, folder: Path, packed: Path, name: str) -> None:
        base = node.load_root(self._console, folder, work_dir())
        node.preload(self._console, base, packed, name)
        store.remove(base)

    def _step(self, name: str, how: str, work: Callable[[], None]) -> None:
        self._progress.start(name, how)
        work()
        self._progress.finish("done")


def _megabytes(name: str) -> int:
    asked = ["docker", "image", "inspect", "--format", "{{.Size}}", name]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout) // 10**6
