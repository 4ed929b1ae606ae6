"""Which versions are out of support."""

import pytest

from lockstep import versions


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((None, "1.14.1", None), []),
        (("1.34.11", "1.14.1", None), ["Kubernetes 1.34.11 is out of support"]),
        (("1.35.8", "1.14.1", None), ["Volcano 1.14.1 supports Kubernetes up to 1.34, not 1.35.8"]),
        (("1.36.0", "1.15.1", None), ["Volcano 1.15.1 supports Kubernetes up to 1.35, not 1.36.0"]),
        (("1.35.8", "1.15.1", "0.9.0"), []),
        ((None, None, "0.7.0"), ["LeaderWorkerSet 0.7.0 is superseded by 0.9.0"]),
        (("1.35.8", "1.14.1", "0.8.0"), ["Volcano 1.14.1", "LeaderWorkerSet 0.8.0"]),
        ((None, None, None), []),
    ],
)
def test_versions_out_of_support_are_named(
    chosen: tuple[str | None, str | None, str | None], told: list[str]
) -> None:
    found = versions.out_of_support(*chosen)
    assert len(found) == len(told)
    assert all(part in clause for part, clause in zip(told, found, strict=True))
