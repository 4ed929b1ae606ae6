"""What `activate` exports, and what it leaves to the user."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import toolchain
from lockstep import paths, versions
from toolchain import cache, catalogue, users_tools

MakeProgram = Callable[[str, str], Path]


@pytest.fixture
def built() -> None:
    """A cache that has everything."""
    cache.root().mkdir(parents=True)

    def fill(folder: Path) -> None:
        for program in group.programs:
            (folder / "bin" / program.name).write_text("program")

    for group in catalogue.groups().values():
        cache.publish(group, "built", fill)


def log_in(home: Path, backend: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "credentials.json").write_text(json.dumps({"current": backend}))


def activate(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Export it all, as a shell would."""
    exports = toolchain.environment()
    for name, value in exports.items():
        monkeypatch.setenv(name, value)
    users_tools._on_path.cache_clear()
    return exports


def test_backend_in_a_folder_with_signs_is_still_an_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "a b%20c"))
    assert toolchain.environment()["PULUMI_BACKEND_URL"].endswith("/a%20b%2520c/backend")


def test_passphrase_is_random_private_and_kept() -> None:
    file = Path(toolchain.environment()["PULUMI_CONFIG_PASSPHRASE_FILE"])
    assert file.stat().st_mode & 0o777 == 0o600
    words = file.read_text()
    assert len(words) >= 40
    toolchain.environment()
    assert file.read_text() == words
    file.unlink()
    toolchain.environment()
    assert file.read_text() != words


def test_passphrase_is_made_once_by_many_at_once() -> None:
    seen: set[str] = set()

    def look() -> None:
        file = Path(toolchain.environment()["PULUMI_CONFIG_PASSPHRASE_FILE"])
        seen.add(file.read_text())

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 1
    assert [file.name for file in paths.state_dir().glob("*passphrase*")] == ["passphrase"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("PULUMI_CONFIG_PASSPHRASE", ""), ("PULUMI_CONFIG_PASSPHRASE_FILE", "/home/me/secret")],
)
def test_users_passphrase_is_respected(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert "PULUMI_CONFIG_PASSPHRASE_FILE" not in toolchain.environment()
    assert not (paths.state_dir() / "passphrase").exists()


@pytest.mark.parametrize(
    ("name", "value"), [("PULUMI_BACKEND_URL", "s3://mine"), ("PULUMI_ACCESS_TOKEN", "pul-x")]
)
def test_users_backend_is_respected(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    exports = toolchain.environment()
    assert "PULUMI_BACKEND_URL" not in exports
    assert "PULUMI_CONFIG_PASSPHRASE_FILE" not in exports
    assert not (paths.state_dir() / "backend").exists()


def test_users_login_is_respected_and_found_from_our_home(tmp_path: Path) -> None:
    log_in(tmp_path / "home" / ".pulumi", "https://api.pulumi.com")
    exports = toolchain.environment()
    assert "PULUMI_BACKEND_URL" not in exports
    assert exports["PULUMI_CREDENTIALS_PATH"] == str(tmp_path / "home" / ".pulumi")


@pytest.mark.parametrize("content", ["", "[]", '{"current": ""}'])
def test_credentials_without_a_login_are_none(tmp_path: Path, content: str) -> None:
    log_in(tmp_path / "home" / ".pulumi", "")
    (tmp_path / "home" / ".pulumi" / "credentials.json").write_text(content)
    assert "PULUMI_BACKEND_URL" in toolchain.environment()


@pytest.mark.usefixtures("built")
def test_our_plugins_are_where_pulumi_looks() -> None:
    exports = toolchain.environment()
    home = Path(exports["PULUMI_HOME"])
    plugin = home / "plugins" / f"resource-command-v{versions.PULUMI_COMMAND}"
    program = cache.program(catalogue.groups()["pulumi-command"], "pulumi-resource-command")
    assert (plugin / "pulumi-resource-command").resolve() == program.resolve()
    assert users_tools.has_plugins(home)
    assert exports["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"


@pytest.mark.usefixtures("built")
def test_link_to_an_older_plugin_is_renewed(tmp_path: Path) -> None:
    home = Path(toolchain.environment()["PULUMI_HOME"])
    link = users_tools.plugin_path(home, "pulumi-command")
    link.unlink()
    link.symlink_to(tmp_path / "gone")
    toolchain.environment()
    assert link.is_file()


@pytest.mark.usefixtures("built")
def test_users_home_with_the_plugins_stays_in_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "own"))
    assert toolchain.environment()["PULUMI_HOME"] != str(tmp_path / "own")
    for name in users_tools.PLUGINS:
        plugin = users_tools.plugin_path(tmp_path / "own", name)
        plugin.parent.mkdir(parents=True)
        plugin.touch()
    assert "PULUMI_HOME" not in toolchain.environment()


@pytest.mark.usefixtures("built")
def test_path_has_our_tools_first_but_not_before_a_good_one(make_program: MakeProgram) -> None:
    groups = catalogue.groups()
    parts = toolchain.environment()["PATH"].split(os.pathsep)
    for name in ("pulumi", "kubectl", "kind"):
        assert parts.index(str(cache.folder(groups[name]) / "bin")) < parts.index("/usr/bin")
    assert str(cache.folder(groups["etcd"]) / "bin") not in parts
    make_program("kubectl", f"v{versions.KUBERNETES}")
    parts = toolchain.environment()["PATH"].split(os.pathsep)
    assert str(cache.folder(groups["kubectl"]) / "bin") not in parts
    assert str(cache.folder(groups["pulumi"]) / "bin") in parts


@pytest.mark.usefixtures("built")
def test_activating_twice_is_activating_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert activate(monkeypatch) == activate(monkeypatch)


@pytest.mark.usefixtures("built")
def test_activating_another_checkout_leaves_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    activate(monkeypatch)
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "another"))
    exports = activate(monkeypatch)
    for name in ("PULUMI_HOME", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        assert exports[name].startswith(str(tmp_path / "another"))
    assert exports["PULUMI_BACKEND_URL"] == f"file://{tmp_path}/another/backend"
