"""The node's root folder: Debian, kind's own files on it, and Kubernetes' programs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from lockstep import versions
from toolchain.kind_image import capabilities, recipe
from toolchain.kind_image.console import Console
from toolchain.kind_image.programs import node_file, program

# kind uses these and no others; the rest of Debian's weigh as much as the kubelet.
CNI_PLUGINS = ("host-local", "loopback", "portmap", "ptp")
UNNEEDED = (
    *("var/cache/apt", "var/lib/apt/lists", "var/log", "usr/share/doc", "usr/share/man"),
    *("usr/share/locale", "usr/share/info", "usr/lib/cni"),
)
# Units that have no place in a container: as kind's own Dockerfile does it.
UNWANTED_UNITS = (
    "lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service",
    "lib/systemd/system/multi-user.target.wants/*",
    "etc/systemd/system/*.wants/*",
    "lib/systemd/system/local-fs.target.wants/*",
    "lib/systemd/system/sockets.target.wants/*udev*",
    "lib/systemd/system/sockets.target.wants/*initctl*",
    "lib/systemd/system/basic.target.wants/*",
)
STORAGE_CLASS = """\
# Claims are bound by hand: the stacks need no storage, and the image has no provisioner.
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
  annotations:
    storageclass.kubernetes.io/is-default-class: "true"
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
CONFIG = {
    "Env": [
        "container=docker",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ],
    "Entrypoint": ["/usr/local/bin/entrypoint", "/sbin/init"],
    # systemd takes SIGTERM for a wish to start anew.
    "StopSignal": "SIGRTMIN+3",
}


def bootstrap(console: Console, root: Path) -> None:
    """Make the Debian root, whole or not at all; a root that is there already is kept."""
    if root.is_dir():
        return
    partial = root.with_name(f"{root.name}.partial")
    if partial.exists():
        shutil.rmtree(partial)
    console.run(
        "installing Debian packages for the node",
        [
            "debootstrap",
            "--variant=minbase",
            f"--include={','.join(recipe.DEBIAN_PACKAGES)}",
            recipe.DEBIAN_SUITE,
            partial,
            *recipe.mirror(),
        ],
    )
    partial.rename(root)


def furnish(console: Console, root: Path) -> None:
    """Turn a Debian root into a kind node; doing it twice is doing it once."""
    _copy_node_files(root)
    _install_programs(root)
    _install_cni(root)
    for path in UNNEEDED:
        shutil.rmtree(root / path, ignore_errors=True)
    (root / "var/log").mkdir()
    _configure_systemd(console, root)
    _configure_containerd(console, root)
    (root / "etc/kubernetes/manifests").mkdir(parents=True, exist_ok=True)
    (root / "kind/version").write_text(f"v{versions.KUBERNETES}")
    manifests = root / "kind/manifests"
    manifests.mkdir(exist_ok=True)
    network = Path(__file__).resolve().parents[1] / "modules" / "kind-network" / "default-cni.yaml"
    shutil.copy(network, manifests / "default-cni.yaml")
    (manifests / "default-storage.yaml").write_text(STORAGE_CLASS)


def _copy_node_files(root: Path) -> None:
    """Copy what kind keeps in its module; modes are not kept there, its Dockerfile sets them."""
    for part in ("etc", "kind", "usr"):
        shutil.copytree(node_file(part), root / part, dirs_exist_ok=True)
    for folder in ("usr/local/bin", "kind/bin"):
        for file in (root / folder).iterdir():
            if not file.is_symlink():
                file.chmod(0o755)


def _install_programs(root: Path) -> None:
    for name in ("kubeadm", "kubectl", "kubelet"):
        shutil.copy(program(name), root / "usr/bin" / name)
    shutil.copy(program("crictl"), root / "usr/local/bin/crictl")
    containerd = root / "usr/local/bin/containerd"
    containerd.unlink(missing_ok=True)
    containerd.symlink_to("/usr/bin/containerd")  # where kind's unit looks for it


def _install_cni(root: Path) -> None:
    target = root / "opt/cni/bin"
    target.mkdir(parents=True, exist_ok=True)
    for name in CNI_PLUGINS:
        if (source := root / "usr/lib/cni" / name).exists():
            shutil.copy(source, target / name)


def _configure_systemd(console: Console, root: Path) -> None:
    for pattern in UNWANTED_UNITS:
        for unit in root.glob(pattern):
            unit.unlink()
    journal = root / "etc/systemd/journald.conf"
    if "ReadKMsg=no" not in journal.read_text():
        journal.write_text(f"{journal.read_text()}ReadKMsg=no\n")
    units = ("kubelet.service", "containerd.service", "undo-mount-hacks.service")
    console.run("enabling units", ["chroot", root, "systemctl", "enable", *units])
    # It registers formats with the kernel, which all containers share.
    console.run("masking a unit", ["chroot", root, "systemctl", "mask", "systemd-binfmt.service"])


def _configure_containerd(console: Console, root: Path) -> None:
    spec = json.loads(console.ask(["chroot", root, "ctr", "oci", "spec"]))
    target = root / "etc/containerd/cri-base.json"
    target.write_text(json.dumps(base_spec(spec)))
    if capabilities.withheld():
        config = root / "etc/containerd/config.toml"
        config.write_text(restrict_oom_scores(config.read_text()))


def base_spec(spec: dict[str, object]) -> dict[str, object]:
    """The runtime specification that kind's containerd starts every container from."""
    hook = {"path": "/kind/bin/mount-product-files.sh"}
    process = spec.get("process")
    kept = {k: v for k, v in process.items() if k != "rlimits"} if isinstance(process, dict) else {}
    return spec | {"hooks": {"createContainer": [hook]}, "process": kept}


def restrict_oom_scores(config: str) -> str:
    """Keep containerd from asking for scores that only CAP_SYS_RESOURCE can give."""
    return config.replace("restrict_oom_score_adj = false", "restrict_oom_score_adj = true")
