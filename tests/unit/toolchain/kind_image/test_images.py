"""The container images inside the node image: names that others ask for, and their users."""

import pytest

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain.kind_image import build
from toolchain.kind_image.images import all_images, missing

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


@pytest.mark.parametrize("name", ["registry.k8s.io/pause:3.10.1", "registry.k8s.io/lws/lws:v0.8.0"])
def test_image_that_must_not_run_as_root_has_a_numeric_user(name: str) -> None:
    assert int(IMAGES[name].user.partition(":")[0]) > 0


def test_sandbox_image_is_read_from_the_containerd_config() -> None:
    config = 'version = 2\n  sandbox_image = "registry.k8s.io/pause:3.10"\n'
    assert build.sandbox_image(config) == "registry.k8s.io/pause:3.10"
    with pytest.raises(LockstepError, match="sandbox_image"):
        build.sandbox_image("version = 2\n")
