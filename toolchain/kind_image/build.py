"""Building kind's node image with Docker and debootstrap."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import toolchain
from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue
from toolchain.kind_image.images import Image, all_images, missing
from toolchain.progress import Progress

REPOSITORY = "lockstep/kind-node"
PARTS = "lockstep/kind-part"
"""The repository of images that Docker has only while the node image is built."""
STEPS = 4

# The last Debian release whose systemd starts on cgroup v1.
DEBIAN = "bookworm"
PACKAGES = (
    # the system
    *("systemd", "systemd-sysv", "dbus", "util-linux", "mount", "kmod", "procps", "hostname"),
    # programs that kubelet, kube-proxy and kubeadm call
    *("conntrack", "iptables", "nftables", "ebtables", "iproute2", "ethtool", "socat", "e2fsprogs"),
    # the container runtime
    *("containerd", "runc", "containernetworking-plugins", "libseccomp2", "pigz"),
    # programs that kind's node files call, and openssl for the certificate of Volcano's webhook
    *("ca-certificates", "curl", "jq", "openssl"),
)
UNNEEDED = (
    *("./var/cache/apt/*", "./var/lib/apt/lists/*", "./var/log/*"),
    *("./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*", "./usr/share/info/*"),
)
NODE_PROGRAMS = ("kubeadm", "kubectl", "kubelet", "crictl")
GROUP = "kind-node"
"""The toolchain's group of the programs and files that only this image needs."""


def groups() -> list[str]:
    """The toolchain's groups whose programs are in the image."""
    managers = [f"lws-{version}" for version in versions.LWS_SUPPORTED]
    volcano = f"volcano-{versions.VOLCANO_DEFAULT}"
    return ["etcd", "kubernetes", volcano, *managers, "kubectl", GROUP]


def image_name() -> str:
    """The image's name; the tag changes with everything that the image is built from."""
    known = catalogue.groups()
    digest = hashlib.sha256(repr([cache.key(known[name]) for name in groups()]).encode())
    for file in [*_recipe(), Path(versions.__file__)]:
        digest.update(file.read_bytes())
    return f"{REPOSITORY}:v{versions.KUBERNETES}-{digest.hexdigest()[:10]}"


def is_built(name: str) -> bool:
    """Whether Docker has the image."""
    return subprocess.run(["docker", "image", "inspect", name], capture_output=True).returncode == 0


def build() -> str:
    """Build the image unless Docker has it already; return its name."""
    check_machine()
    name = image_name()
    if not is_built(name):
        toolchain.ensure(groups())
        paths.cache_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="kind-image-", dir=paths.cache_dir()) as folder:
            _Build(Path(folder)).run(name)
    return name


def check_machine() -> None:
    """Raise if the image cannot be built on this machine."""
    instead = "or use kind's public image, which is the default"
    if not sys.platform.startswith("linux"):
        raise LockstepError(f"the node image can only be built on Linux; use Linux, {instead}")
    for program, package in (("docker", "docker.io"), ("debootstrap", "debootstrap")):
        if shutil.which(program) is None:
            raise LockstepError(
                f"{program} is needed to build the node image and is not installed; install it "
                f"(Debian's package {package}), {instead}"
            )
    if subprocess.run(["docker", "info"], capture_output=True).returncode:
        raise LockstepError(f"Docker is installed but does not answer; start it, {instead}")
    if os.geteuid() != 0:
        raise LockstepError(
            f"debootstrap needs root to build the node image; run as root, {instead}"
        )


class _Build:
    """One build; commands write to a log file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = paths.cache_dir() / "logs" / "kind-image.log"

    def run(self, name: str) -> None:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.write_bytes(b"")
        progress = Progress(STEPS)
        progress.note(f"building {name}; log: {self._log}")
        images = all_images(sandbox_image((_files() / "etc/containerd/config.toml").read_text()))
        self._check_complete(images)
        with progress.step(
            "Debian root", "installing packages (2 minutes the first time)", "ready"
        ):
            debian = self._debian()
        with progress.step("container images", "building", "built"):
            self._prepare_context()
            for image in images:
                if image.path:
                    self._import(image)
                else:
                    self._docker_build(image.program, _part(image), debian)
        with progress.step("node", "building", "built"):
            self._docker_build("node", f"{PARTS}:node", debian)
        with progress.step("node image", "importing the container images", "ready"):
            self._preload(images, name)
        parts = [_part(image) for image in images]
        self._run("removing the parts", ["docker", "image", "rm", *parts, f"{PARTS}:node"])
        left_over = ["--force", "--filter", "label=dev.lockstep.image=reduced-debian"]
        self._run("removing a build stage", ["docker", "image", "prune", *left_over])

    def _run(
        self, what: str, command: Sequence[str | Path], stdin: IO[bytes] | None = None
    ) -> None:
        with self._log.open("ab") as log:
            log.write(f"\n$ {' '.join(map(str, command))}\n".encode())
            log.flush()
            done = subprocess.run(
                command, stdin=stdin or subprocess.DEVNULL, stdout=log, stderr=log, check=False
            )
        if done.returncode:
            last = self._log.read_text(errors="replace").strip().splitlines()[-1]
            raise LockstepError(f"{what} failed: {last[:200]} (log: {self._log})")

    def _check_complete(self, images: Sequence[Image]) -> None:
        version = f"v{versions.KUBERNETES}"
        kubeadm = str(program("kubeadm"))
        command = [kubeadm, "config", "images", "list", "--kubernetes-version", version]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        if absent := missing(listed, images):
            raise LockstepError(f"kubeadm asks for {', '.join(absent)}; adapt lockstep/versions.py")

    def _debian(self) -> str:
        """Return the image with Debian's packages; Docker keeps it for the next build."""
        digest = hashlib.sha256(repr((DEBIAN, PACKAGES, UNNEEDED)).encode())
        name = f"{REPOSITORY}:debian-{digest.hexdigest()[:10]}"
        if not is_built(name):
            root = self._folder / "root"
            mirror = os.environ.get("LOCKSTEP_DEBIAN_MIRROR")
            command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}"]
            place = [DEBIAN, str(root), *([mirror] if mirror else [])]
            self._run(
                "installing Debian packages (LOCKSTEP_DEBIAN_MIRROR sets another mirror)",
                [*command, *place],
            )
            excluded = [f"--exclude={path}" for path in UNNEEDED]
            packed = ["tar", "--create", "--directory", str(root), *excluded, "."]
            with subprocess.Popen(packed, stdout=subprocess.PIPE) as tar:
                self._run("importing Debian", ["docker", "import", "-", name], tar.stdout)
            shutil.rmtree(root)
        return name

    def _prepare_context(self) -> None:
        """Fill the context of `docker build`."""
        (self._folder / "programs").mkdir()
        for name in (*NODE_PROGRAMS, "kube-proxy", "vc-webhook-manager"):
            shutil.copy(program(name), self._folder / "programs" / name)
        shutil.copytree(_files(), self._folder / "kind", symlinks=True)
        for file in _recipe():
            shutil.copy(file, self._folder / file.name)

    def _docker_build(self, target: str, name: str, debian: str) -> None:
        arguments = (f"DEBIAN={debian}", f"KUBERNETES={versions.KUBERNETES}")
        options = [word for argument in arguments for word in ("--build-arg", argument)]
        command = ["docker", "build", *options, "--target", target, "--tag", name]
        self._run(f"building the image of {target}", [*command, str(self._folder)])

    def _import(self, image: Image) -> None:
        """Make an image of one static program."""
        packed = self._folder / "image.tar"
        with tarfile.open(packed, "w") as tar:
            scratch = tarfile.TarInfo("tmp")
            scratch.type, scratch.mode = tarfile.DIRTYPE, 0o1777
            tar.addfile(scratch)
            tar.add(program(image.program), image.path)
        changes = (
            f'ENTRYPOINT ["{image.path}"]',
            f"USER {image.user}",
            "ENV PATH=/usr/local/bin",
        )
        options = [word for change in changes for word in ("--change", change)]
        self._run(
            f"importing {image.program}", ["docker", "import", *options, packed, _part(image)]
        )

    def _preload(self, images: Sequence[Image], name: str) -> None:
        """Import the images into a container of the node, and commit that as the node image."""
        pairs = [
            word
            for image in images
            for alias in image.names
            for word in (f"docker.io/{_part(image)}", alias)
        ]
        container = f"lockstep-kind-image-{os.getpid()}"
        options = ["--network", "none", "--security-opt", "seccomp=unconfined"]
        start = ["docker", "run", "--detach", "--name", container, *options]
        self._run("starting the node", [*start, "--entrypoint", "sleep", f"{PARTS}:node", "1h"])
        try:
            inside = ["docker", "exec", "--interactive", container, "sh", "-c"]
            script = (Path(__file__).parent / "preload.sh").read_text()
            saving = ["docker", "save", *(_part(image) for image in images)]
            with subprocess.Popen(saving, stdout=subprocess.PIPE) as saved:
                command = [*inside, script, "preload", *pairs]
                self._run("importing container images", command, saved.stdout)
            start_as = 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]'
            changes = ["--change", start_as, "--change", "CMD []"]
            self._run("saving the node image", ["docker", "commit", *changes, container, name])
        finally:
            self._run("removing the node", ["docker", "rm", "--force", "--volumes", container])


def program(name: str) -> Path:
    """A program of the toolchain that needs no shared library, since its image has none."""
    path = toolchain.tool(name)
    if b"ld-linux" in path.read_bytes()[:4096]:
        raise LockstepError(
            f"{path} needs shared libraries and cannot be in an image; take it off PATH, so that "
            "the toolchain's own program is used"
        )
    return path


def sandbox_image(containerd_config: str) -> str:
    """The name under which kind's containerd configuration asks for pause."""
    found = re.search(r'^\s*sandbox_image\s*=\s*"(.+)"', containerd_config, re.MULTILINE)
    if found is None:
        raise LockstepError("kind's containerd configuration names no sandbox_image; report this")
    return found[1]


def _part(image: Image) -> str:
    return f"{PARTS}:{image.program}"


def _files() -> Path:
    """The files that the toolchain copied from the Go modules of kind and Volcano."""
    return cache.folder(catalogue.groups()[GROUP]) / "files"


def _recipe() -> list[Path]:
    """The files of this folder, without its documentation."""
    files = (file for file in Path(__file__).parent.iterdir() if file.is_file())
    return sorted(file for file in files if file.suffix not in (".md", ".mk", ".pyc"))
