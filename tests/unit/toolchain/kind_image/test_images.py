"""The container images inside the node image: names that others ask for, and their users."""

from __future__ import annotations

import pytest
import yaml

from components import volcano
from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain.kind_image import build
from toolchain.kind_image.images import Image, all_images, missing

FOLDER = paths.project_dir() / "toolchain" / "kind_image"
IMAGES = {name: image for image in all_images("pause:sandbox") for name in image.names}


def test_image_that_kubeadm_asks_for_and_the_node_lacks_is_reported() -> None:
    etcd = f"registry.k8s.io/etcd:{versions.ETCD}-0"
    assert missing([etcd, "registry.k8s.io/etcd:9-0"], IMAGES.values()) == [
        "registry.k8s.io/etcd:9-0"
    ]


def test_pause_is_found_as_sandbox_and_by_the_digest_of_the_workload() -> None:
    tagged, _, digest = versions.WORKLOAD_IMAGE.partition("@")
    assert IMAGES[tagged] is IMAGES["pause:sandbox"]
    assert IMAGES[tagged] is IMAGES[f"registry.k8s.io/pause@{digest}"]


def test_operators_have_the_names_that_the_charts_ask_for() -> None:
    tag = volcano.chart_values(versions.VOLCANO, host_operators=False)["basic"]["image_tag_version"]
    for name in ("controller-manager", "scheduler", "webhook-manager"):
        assert f"docker.io/volcanosh/vc-{name}:{tag}" in IMAGES
    for version in versions.LWS_SUPPORTED:
        assert f"registry.k8s.io/lws/lws:v{version}" in IMAGES


@pytest.mark.parametrize("name", ["registry.k8s.io/pause:3.10.1", "registry.k8s.io/lws/lws:v0.8.0"])
def test_image_that_must_not_run_as_root_has_a_numeric_user(name: str) -> None:
    assert int(IMAGES[name].user.partition(":")[0]) > 0


def test_image_of_more_than_one_program_has_a_target_in_the_dockerfile() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    needed: list[Image] = [image for image in IMAGES.values() if not image.path]
    assert needed
    for image in needed:
        assert f" AS {image.program}\n" in text


def test_network_of_the_manifest_is_never_pulled() -> None:
    text = (FOLDER / "default-cni.yaml").read_text().replace("{{ .PodSubnet }}", "10.244.0.0/16")
    (daemon_set,) = [d for d in yaml.safe_load_all(text) if d and d["kind"] == "DaemonSet"]
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["image"] in IMAGES
    assert container["imagePullPolicy"] == "Never"


def test_sandbox_image_is_read_from_the_containerd_config() -> None:
    config = 'version = 2\n  sandbox_image = "registry.k8s.io/pause:3.10"\n'
    assert build.sandbox_image(config) == "registry.k8s.io/pause:3.10"
    with pytest.raises(LockstepError, match="sandbox_image"):
        build.sandbox_image("version = 2\n")
