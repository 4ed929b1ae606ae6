import stat
from pathlib import Path

import pytest

from lockstep import paths
from lockstep.errors import LockstepError
from tests.unit.conftest import PROJECT_DIR


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's own Pulumi project, with the current directory in a folder below it."""
    (tmp_path / "Pulumi.yaml").touch()
    (tmp_path / "infra").mkdir()
    monkeypatch.chdir(tmp_path / "infra")
    monkeypatch.delenv("LOCKSTEP_STATE", raising=False)
    return tmp_path


def install_as_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(folder / "site-packages" / "lockstep" / "paths.py"))


def test_state_is_kept_in_the_pulumi_project_in_use(project: Path) -> None:
    assert paths.project_dir() == project
    assert paths.state_dir() == project / ".lockstep"
    assert paths.cluster_dir("one") == project / ".lockstep" / "clusters" / "one"


def test_state_dir_follows_the_variable_and_has_no_symlink(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "link").symlink_to(project / "real")
    (project / "real").mkdir()
    monkeypatch.setenv("LOCKSTEP_STATE", str(project / "link"))
    assert paths.state_dir() == project / "real"


def test_private_file_is_only_for_its_owner(tmp_path: Path) -> None:
    old = tmp_path / "new" / "old"
    for _ in range(2):
        assert stat.S_IMODE(paths.private_file(old).stat().st_mode) == 0o600
        old.write_text("kept")
        old.chmod(0o644)
    assert old.read_text() == "kept"


def test_path_is_shown_relative_to_the_current_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert paths.shown(paths.out_dir() / "receipts") == "out/receipts"
    assert paths.shown(project.parent / "other") == str(project.parent / "other")


def test_outside_of_a_project_the_checkout_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths.project_dir() == paths.checkout_dir() == PROJECT_DIR


def test_installed_lockstep_uses_the_users_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_as_package(project, monkeypatch)
    assert paths.state_dir() == project / ".lockstep"
    with pytest.raises(LockstepError, match=r"needs a checkout of Lockstep"):
        paths.checkout_dir()


def test_installed_lockstep_outside_of_a_project_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    install_as_package(tmp_path, monkeypatch)
    with pytest.raises(LockstepError, match=r"no Pulumi.yaml in .* set LOCKSTEP_STATE"):
        paths.project_dir()
