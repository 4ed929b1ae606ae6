"""A checkout with one stack, and a pretended backend."""

from pathlib import Path

import pytest

import toolchain
from lockstep import paths
from lockstep.local import control_plane
from lockstep.walk import automation
from tests.unit.lockstep.walk.fakes import CONFIG, FakeBackend


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one stack."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text(
        "config:\n  clusterProvider: {default: kwok}\n  clusterName: {default: ''}\n"
        "  lwsVersion: {default: 0.8.0}\n"
        "  volcanoVersion: {default: 1.14.1}\n"
    )
    (tmp_path / "stacks" / "Pulumi.gang.yaml").write_text(CONFIG)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(paths, "checkout_dir", lambda: tmp_path)
    monkeypatch.setattr(toolchain, "environment", dict)
    return tmp_path


@pytest.fixture
def backend(project: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    assert project
    backend = FakeBackend()
    monkeypatch.setattr(automation, "workspace", backend.workspace)
    monkeypatch.setattr(automation, "AutomationStack", backend.stack)
    return backend


@pytest.fixture
def deleted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The embedded clusters that were deleted."""
    names: list[str] = []
    monkeypatch.setattr(control_plane, "delete", names.append)
    return names
