"""Which versions are out of support, and the version in an image's name."""

from itertools import product

import pytest

from lockstep import versions
from lockstep.versions import out_of_support


def test_default_versions_are_supported() -> None:
    assert out_of_support(versions.KUBERNETES, versions.VOLCANO_DEFAULT, versions.LWS_DEFAULT) == []


@pytest.mark.parametrize(
    ("kubernetes", "volcano", "lws", "named"),
    [
        ("1.35.8", "1.14.1", "0.9.0", ["Volcano 1.14.1 supports Kubernetes up to 1.34"]),
        ("1.34.4", "1.14.1", "0.9.0", []),
        ("1.36.0", "1.15.1", "0.9.0", ["Volcano 1.15.1 supports Kubernetes up to 1.35"]),
        ("", "1.14.1", "0.9.0", []),
        ("1.35.8", "2.0.0", "0.10.0", []),
        ("1.35.8", "1.15.1", "0.8.0", ["LeaderWorkerSet 0.8.0 is superseded by 0.9.0"]),
        ("1.35.8", "1.14.1", "0.7.0", ["Volcano 1.14.1 supports", "LeaderWorkerSet 0.7.0 is"]),
    ],
)
def test_version_out_of_support_is_named(
    kubernetes: str, volcano: str, lws: str, named: list[str]
) -> None:
    lines = out_of_support(kubernetes, volcano, lws)
    assert [line[: len(text)] for line, text in zip(lines, named, strict=True)] == named


def test_what_is_wrong_with_a_supported_pair_is_one_line_each() -> None:
    for volcano, lws in product(versions.VOLCANO_SUPPORTED, versions.LWS_SUPPORTED):
        for line in out_of_support(versions.KUBERNETES, volcano, lws):
            assert "\n" not in line
            assert "the default" in line


@pytest.mark.parametrize(
    ("image", "version"),
    [(versions.KIND_NODE_IMAGE, versions.KUBERNETES), ("own/image:latest", None)],
)
def test_version_of_an_image_is_in_its_tag(image: str, version: str | None) -> None:
    assert versions.of_image(image) == version
