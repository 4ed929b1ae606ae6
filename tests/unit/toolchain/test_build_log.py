from __future__ import annotations

from pathlib import Path

import pytest

from toolchain import build_log


def test_only_the_last_logs_of_a_kind_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path))
    (tmp_path / "logs").mkdir()
    for day in range(8):
        (tmp_path / "logs" / f"kind-image-2026010{day}-000000-1.log").touch()
    (tmp_path / "logs" / "tools-20260101-000000-1.log").touch()
    fresh = build_log.fresh("kind-image")
    kept = sorted((tmp_path / "logs").glob("kind-image-*"))
    assert len(kept) == build_log.KEPT
    assert fresh in kept
    assert (tmp_path / "logs" / "tools-20260101-000000-1.log").exists()
