"""Which versions are out of support."""

import pytest

from lockstep import versions


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ((None, "1.14.1", None), ["Volcano 1.14.1"]),
        ((None, "1.15.1", "0.9.0"), []),
        ((None, None, "0.7.0"), ["LWS 0.7.0"]),
        (("1.33.1", "1.14.1", "0.8.0"), ["Kubernetes 1.33.1", "Volcano 1.14.1", "LWS 0.8.0"]),
        ((None, None, None), []),
    ],
)
def test_versions_out_of_support_are_named(
    chosen: tuple[str | None, str | None, str | None], told: list[str]
) -> None:
    found = versions.out_of_support(*chosen)
    assert len(found) == len(told)
    assert all(part in clause for part, clause in zip(told, found, strict=True))
