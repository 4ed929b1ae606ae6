"""Whether the machine gives root everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolchain.kind_image import capabilities


@pytest.mark.parametrize(
    ("bounding", "withheld"),
    [("000001ffffffffff", False), ("000001fffeffffff", True), ("0000000000000000", True)],
)
def test_withheld_capability_is_seen(tmp_path: Path, bounding: str, withheld: bool) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tx\nCapEff:\t{bounding}\nCapBnd:\t{bounding}\nNoNewPrivs:\t0\n")
    assert capabilities.withheld(status) is withheld


def test_nothing_is_withheld_where_there_are_no_capabilities(tmp_path: Path) -> None:
    assert not capabilities.withheld(tmp_path / "absent")
