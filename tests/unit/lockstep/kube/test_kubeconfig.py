from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import yaml

from lockstep.errors import LockstepError
from lockstep.kube import kubeconfig

CONFIG = """
current-context: prod
contexts:
- {name: dev, context: {cluster: dev-cluster, user: me, namespace: mine}}
- {name: prod, context: {cluster: prod-cluster, user: admin}}
- {name: broken, context: {cluster: nowhere}}
- {name: anonymous, context: {cluster: dev-cluster}}
clusters:
- {name: dev-cluster, cluster: {server: "https://dev", certificate-authority: pki/ca.crt}}
- {name: prod-cluster, cluster: {server: "https://prod"}}
users:
- {name: me, user: {client-certificate: /abs/me.crt, client-key: me.key}}
- {name: admin, user: {token: secret}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text(CONFIG)
    return file


def test_kubeconfig_given_is_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/another")
    assert kubeconfig.find(str(path)) == path


def test_kubeconfig_of_the_environment_is_the_first_that_exists(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", f"/not/there:{path}:/another")
    assert kubeconfig.find(None) == path


def test_kubeconfig_of_the_home_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".kube" / "config"
    file.parent.mkdir()
    file.write_text(CONFIG)
    assert kubeconfig.find(None) == file
    assert kubeconfig.find("~/.kube/config") == file


def test_kubeconfig_that_is_not_there_is_an_error_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/fallback")
    with pytest.raises(
        LockstepError, match=r"no kubeconfig at /not/there; set lockstep:kubeconfig"
    ):
        kubeconfig.find("/not/there")


def test_context_is_kept_without_the_credentials_of_others(path: Path) -> None:
    text = kubeconfig.only(path, "dev")
    assert "secret" not in text
    config = yaml.safe_load(text)
    assert config["current-context"] == "dev"
    assert [entry["name"] for entry in config["contexts"]] == ["dev"]
    assert config["contexts"][0]["context"]["namespace"] == "mine"


def test_context_holds_its_files_wherever_it_is_used(path: Path) -> None:
    config = yaml.safe_load(kubeconfig.only(path, "dev"))
    assert config["clusters"][0]["cluster"]["certificate-authority"] == str(
        path.parent / "pki/ca.crt"
    )
    user = config["users"][0]["user"]
    assert user == {"client-certificate": "/abs/me.crt", "client-key": str(path.parent / "me.key")}


def test_context_without_a_user_is_fine(path: Path) -> None:
    assert yaml.safe_load(kubeconfig.only(path, "anonymous"))["users"] == []


@pytest.mark.parametrize(
    ("context", "fault"),
    [
        ("staging", r"no context 'staging' in .*; it has: dev, prod, broken, anonymous"),
        ("broken", "names a cluster that is not there"),
    ],
)
def test_context_that_cannot_be_used_is_an_error(path: Path, context: str, fault: str) -> None:
    with pytest.raises(LockstepError, match=fault):
        kubeconfig.only(path, context)


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a: [", "cannot read"), ("- 1", "is not a kubeconfig"), ("{}", "it has: none")],
)
def test_file_that_is_no_kubeconfig_is_an_error(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(LockstepError, match=fault):
        kubeconfig.only(file, "dev")


def test_copies_that_pulumi_left_go_with_their_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours = tmp_path / "ours"
    ours.write_text("clusters:\n- cluster:\n    certificate-authority-data: T1VSUw==\n")
    copy, others = tmp_path / "kubeconfig123", tmp_path / "kubeconfig456"
    copy.write_text("certificate-authority-data: T1VSUw==\n")
    others.write_text("certificate-authority-data: VEhFSVJT\n")
    kubeconfig.remove_copies(ours)
    assert not copy.exists()
    assert others.exists()


@pytest.mark.parametrize("text", [None, "", "clusters: [{cluster: {}}]"])
def test_kubeconfig_without_an_authority_has_no_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "kubeconfig123").write_text("")
    if text is not None:
        (tmp_path / "ours").write_text(text)
    kubeconfig.remove_copies(tmp_path / "ours")
    assert (tmp_path / "kubeconfig123").exists()
