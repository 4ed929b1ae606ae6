"""The node's root folder: what is put on Debian, and what is taken off."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lockstep import versions
from lockstep.errors import LockstepError
from toolchain.kind_image import capabilities, root
from toolchain.kind_image.console import Console


class Recorder(Console):
    """Notes commands instead of running them."""

    def __init__(self, log: Path) -> None:
        super().__init__(lambda: None, log)
        self.commands: list[list[str]] = []

    def run(self, what: str, command: object, **options: object) -> None:
        assert what
        assert not options
        self.commands.append([str(word) for word in command])  # type: ignore[attr-defined]

    def ask(self, command: object) -> str:
        self.commands.append([str(word) for word in command])  # type: ignore[attr-defined]
        return json.dumps({"ociVersion": "1.0.2", "process": {"rlimits": [1], "cwd": "/"}})


@pytest.fixture
def console(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "log")


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root that debootstrap could have made, and kind's files to put on it."""
    files = tmp_path / "files"
    for path, text in {
        "etc/containerd/config.toml": "restrict_oom_score_adj = false\n",
        "kind/bin/hook.sh": "#!/bin/bash\n",
        "usr/local/bin/entrypoint": "#!/bin/bash\n",
    }.items():
        (files / path).parent.mkdir(parents=True, exist_ok=True)
        (files / path).write_text(text)
        (files / path).chmod(0o644)
    debian = tmp_path / "root"
    for folder in ("usr/bin", "usr/lib/cni", "usr/lib/systemd/system", "var/log", "usr/share/doc"):
        (debian / folder).mkdir(parents=True)
    (debian / "lib").symlink_to("usr/lib")
    (debian / "etc/systemd/system/multi-user.target.wants").mkdir(parents=True)
    (debian / "etc/systemd/system/multi-user.target.wants/cron.service").touch()
    (debian / "etc/systemd/journald.conf").write_text("[Journal]\n")
    for name in (*root.CNI_PLUGINS, "dhcp"):
        (debian / "usr/lib/cni" / name).write_text(name)
    program = tmp_path / "program"
    program.write_text("program")
    monkeypatch.setattr(root, "node_file", lambda path: files / path)
    monkeypatch.setattr(root, "program", lambda name: program if name else None)
    monkeypatch.setattr(capabilities, "withheld", lambda: True)
    return debian


def test_node_has_kubernetes_and_kinds_files(console: Recorder, debian: Path) -> None:
    root.furnish(console, debian)
    for path in ("usr/bin/kubelet", "usr/bin/kubeadm", "usr/bin/kubectl", "usr/local/bin/crictl"):
        assert (debian / path).read_text() == "program"
    for script in ("usr/local/bin/entrypoint", "kind/bin/hook.sh"):
        assert (debian / script).stat().st_mode & 0o777 == 0o755
    assert (debian / "kind/version").read_text() == f"v{versions.KUBERNETES}"
    assert "kind-network" in (debian / "kind/manifests/default-cni.yaml").read_text()
    assert "StorageClass" in (debian / "kind/manifests/default-storage.yaml").read_text()


def test_units_without_a_place_in_a_container_are_gone(console: Recorder, debian: Path) -> None:
    root.furnish(console, debian)
    assert list((debian / "etc/systemd/system/multi-user.target.wants").iterdir()) == []
    assert [
        "chroot",
        str(debian),
        "systemctl",
        "mask",
        "systemd-binfmt.service",
    ] in console.commands
    assert (debian / "etc/systemd/journald.conf").read_text() == "[Journal]\nReadKMsg=no\n"


def test_only_the_plugins_that_kind_uses_stay(console: Recorder, debian: Path) -> None:
    root.furnish(console, debian)
    plugins = {plugin.name for plugin in (debian / "opt/cni/bin").iterdir()}
    assert plugins == set(root.CNI_PLUGINS)
    assert not (debian / "usr/lib/cni").exists()
    assert not (debian / "usr/share/doc").exists()


def test_interrupted_furnishing_can_be_done_again(console: Recorder, debian: Path) -> None:
    root.furnish(console, debian)
    before = sorted(str(path.relative_to(debian)) for path in debian.rglob("*"))
    root.furnish(console, debian)
    assert sorted(str(path.relative_to(debian)) for path in debian.rglob("*")) == before
    assert (debian / "etc/systemd/journald.conf").read_text().count("ReadKMsg") == 1


def test_oom_scores_are_restricted_only_where_needed(
    console: Recorder, debian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = debian / "etc/containerd/config.toml"
    root.furnish(console, debian)
    assert "restrict_oom_score_adj = true" in config.read_text()
    monkeypatch.setattr(capabilities, "withheld", lambda: False)
    root.furnish(console, debian)
    assert "restrict_oom_score_adj = false" in config.read_text()


def test_containers_start_with_kinds_hook_and_without_limits() -> None:
    spec = root.base_spec({"ociVersion": "1.0.2", "process": {"rlimits": [1], "cwd": "/"}})
    assert spec["process"] == {"cwd": "/"}
    assert spec["hooks"] == {"createContainer": [{"path": "/kind/bin/mount-product-files.sh"}]}
    assert spec["ociVersion"] == "1.0.2"


def test_debian_is_made_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    debootstrap = programs / "debootstrap"
    body = "import pathlib, sys; pathlib.Path(sys.argv[-1], 'usr').mkdir(parents=True); {}"
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.delenv("LOCKSTEP_DEBIAN_MIRROR", raising=False)
    (tmp_path / "log").touch()
    console, target = Console(lambda: None, tmp_path / "log"), tmp_path / "root"

    def write(end: str) -> None:
        debootstrap.write_text(f"#!{sys.executable}\n{body.format(end)}\n")
        debootstrap.chmod(0o755)

    write("sys.exit('E: broken')")
    with pytest.raises(LockstepError, match="E: broken"):
        root.bootstrap(console, target)
    assert not target.exists()
    write("")
    root.bootstrap(console, target)
    assert (target / "usr").is_dir()
    write("sys.exit('must not run again')")
    root.bootstrap(console, target)
