"""The container images of the node: names that others ask for, and users they insist on."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from components import lws, volcano
from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain.kind_image import images, node
from toolchain.kind_image.archive import Entry, Image

CONTAINERD = (
    '[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "registry.k8s.io/pause:3.10"\n'
)
# What `kubeadm config images list` prints.
REQUIRED = f"""\
registry.k8s.io/kube-apiserver:v{versions.KUBERNETES}
registry.k8s.io/kube-controller-manager:v{versions.KUBERNETES}
registry.k8s.io/kube-scheduler:v{versions.KUBERNETES}
registry.k8s.io/kube-proxy:v{versions.KUBERNETES}
registry.k8s.io/coredns/coredns:v1.12.1
registry.k8s.io/pause:3.10.1
registry.k8s.io/etcd:3.6.5-0
""".split()


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Image]:
    """All images by name, of programs that are empty files."""
    files = tmp_path / "files"
    (files / "etc/containerd").mkdir(parents=True)
    (files / "etc/containerd/config.toml").write_text(CONTAINERD)
    monkeypatch.setattr(images, "node_file", lambda path: files / path)
    monkeypatch.setattr(images, "program", lambda name: tmp_path / name)
    monkeypatch.setattr(
        images,
        "with_libraries",
        lambda root, programs: tuple(Entry(path, root / path.lstrip("/")) for path in programs),
    )
    return {name: image for image in images.all_images(tmp_path) for name in image.names}


def paths_of(image: Image) -> set[str]:
    return {entry.path for layer in image.layers for entry in layer}


def test_everything_that_kubeadm_asks_for_is_there(built: dict[str, Image]) -> None:
    assert images.missing(REQUIRED, built.values()) == []
    assert images.missing(["registry.k8s.io/etcd:9-0"], built.values()) == [
        "registry.k8s.io/etcd:9-0"
    ]


def test_pause_serves_as_sandbox_and_as_workload(built: dict[str, Image]) -> None:
    workload = versions.WORKLOAD_IMAGE.partition("@")[0]
    assert built["registry.k8s.io/pause:3.10"] is built[workload]


def test_workload_is_found_by_the_public_digest_too() -> None:
    tagged, _, digest = versions.WORKLOAD_IMAGE.partition("@")
    assert node.aliases() == [(tagged, f"registry.k8s.io/pause@{digest}")]


def test_workload_without_digest_needs_no_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "WORKLOAD_IMAGE", "registry.k8s.io/pause:3.10.1")
    assert node.aliases() == []


def test_operators_have_the_names_that_the_charts_are_given(built: dict[str, Image]) -> None:
    tag = volcano.chart_values(versions.VOLCANO, host_operators=False)["basic"]["image_tag_version"]
    for name in ("controller-manager", "scheduler", "webhook-manager"):
        assert f"docker.io/volcanosh/vc-{name}:{tag}" in built
    for version in versions.LWS_SUPPORTED:
        assert f"registry.k8s.io/lws/lws:v{version}" in built
    assert lws.NAMESPACE  # its values need a cluster; their tag is the version, as above


@pytest.mark.parametrize("name", ["registry.k8s.io/pause:3.10.1", "registry.k8s.io/lws/lws:v0.8.0"])
def test_images_that_must_not_be_root_name_a_number(built: dict[str, Image], name: str) -> None:
    user, _, _ = str(built[name].config["User"]).partition(":")
    assert int(user) > 0


def test_network_image_is_the_one_in_the_manifest(built: dict[str, Image]) -> None:
    manifest = paths.project_dir() / "toolchain" / "modules" / "kind-network" / "default-cni.yaml"
    text = manifest.read_text().replace("{{ .PodSubnet }}", "10.244.0.0/16")
    (daemon_set,) = [d for d in yaml.safe_load_all(text) if d and d["kind"] == "DaemonSet"]
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["image"] in built
    assert container["imagePullPolicy"] == "Never"


@pytest.mark.parametrize(
    "name", [images.NETWORK_IMAGE, f"registry.k8s.io/kube-proxy:v{versions.KUBERNETES}"]
)
def test_network_programs_find_iptables(built: dict[str, Image], name: str) -> None:
    wanted = {f"/usr/sbin/{ip}tables{verb}" for ip in ("ip", "ip6") for verb in ("", "-save")}
    assert wanted <= paths_of(built[name])


def test_certificate_job_has_its_shell_and_tools(built: dict[str, Image]) -> None:
    image = built[f"docker.io/volcanosh/vc-webhook-manager:v{versions.VOLCANO}"]
    wanted = {"/bin/sh", "/usr/bin/openssl", "/usr/local/bin/kubectl", "/gen-admission-secret.sh"}
    assert wanted <= paths_of(image)
    assert Entry("/tmp", mode=0o1777) in [e for layer in image.layers for e in layer]


def test_config_without_sandbox_image_is_refused() -> None:
    with pytest.raises(LockstepError, match="sandbox_image"):
        images.sandbox_image("version = 2\n")
