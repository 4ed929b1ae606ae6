import json
import subprocess
import sys
from pathlib import Path

import pytest

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.local import embedded_cluster as cluster
from lockstep.local import supervisor


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of a complete cluster that runs."""
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path))
    made = paths.cluster_dir("one")
    for path in ("etcd/member", "pki"):
        (made / path).mkdir(parents=True)
    (made / "ports.json").write_text(json.dumps({"apiserver": 20001}))
    (made / "kubeconfig").touch()
    (made / "pki" / "ca.crt").touch()
    cluster.marker("one").write_text("abc 1.35.8 run")
    monkeypatch.setattr(supervisor, "holder", lambda folder: 1 if folder.exists() else None)
    return made


def test_running_cluster_keeps_its_ids(folder: Path) -> None:
    assert cluster.plan("one") == cluster.Plan("abc", "run")


def test_new_cluster_gets_new_ids_without_a_warning(folder: Path) -> None:
    first, second = cluster.plan("two"), cluster.plan("two")
    assert first.warning == ""
    assert first.incarnation != second.incarnation


def test_marker_of_an_earlier_release_counts_as_none(folder: Path) -> None:
    cluster.marker("one").write_text("abc 1.34.4\n")
    assert cluster.plan("one").incarnation != "abc"


def test_cluster_that_does_not_run_is_started_with_its_data(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a reboot of the machine, for example."""
    monkeypatch.setattr(supervisor, "holder", lambda _folder: None)
    plan = cluster.plan("one")
    assert plan.incarnation == "abc"
    assert plan.run != "run"
    assert "one does not run; it will be started with its data" in plan.warning


def test_cluster_without_a_supervisor_is_adopted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "holder", lambda _folder: None)
    monkeypatch.setattr(supervisor, "is_alive", lambda _folder, name: name == "kube-apiserver")
    plan = cluster.plan("one")
    assert (plan.incarnation, plan.run != "run") == ("abc", True)
    assert plan.warning == (
        "the supervisor of the embedded cluster one has ended; it will be restarted"
    )


@pytest.mark.parametrize("path", ["ports.json", "kubeconfig", "pki/ca.crt", "etcd/member"])
def test_cluster_with_missing_files_is_recreated(folder: Path, path: str) -> None:
    (folder / path).rename(folder / "elsewhere")
    plan = cluster.plan("one")
    assert plan.incarnation != "abc"
    assert plan.warning.endswith(f"one will be recreated: {path} is missing")


def test_load_of_a_missing_cluster_says_what_to_do(folder: Path) -> None:
    assert cluster.load("one").server == "https://127.0.0.1:20001"
    with pytest.raises(LockstepError, match="two does not exist; `pulumi up` recreates it"):
        cluster.load("two")


def test_module_is_light_enough_for_the_pulumi_program() -> None:
    code = "import sys, lockstep.local.embedded_cluster; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=paths.checkout_dir(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"psutil", "yaml", "lightkube", "httpx", "trustme"} & set(done.stdout.split())
