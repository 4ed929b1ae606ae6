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


def test_given_file_comes_before_the_files_of_the_environment_that_exist(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", f"/not/there:{path}::/another")
    assert kubeconfig.files() == [path]
    monkeypatch.setenv("KUBECONFIG", "/another")
    assert kubeconfig.files(str(path)) == [path]


def test_file_in_the_home_folder_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".kube" / "config"
    file.parent.mkdir()
    file.write_text(CONFIG)
    assert kubeconfig.files() == [file]
    assert kubeconfig.files("~/.kube/config") == [file]


def test_missing_file_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/fallback")
    with pytest.raises(LockstepError, match=r"no kubeconfig at /not/there; .*lockstep:kubeconfig"):
        kubeconfig.load("/not/there")


SECOND = """
current-context: laptop
contexts:
- {name: laptop, context: {cluster: laptop, user: me}}
- {name: split, context: {cluster: dev-cluster, user: me}}
clusters:
- {name: laptop, cluster: {server: "https://laptop", certificate-authority: ca.crt}}
users:
- {name: me, user: {token: second}}
"""


@pytest.fixture
def second(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = path.parent / "more" / "config"
    file.parent.mkdir()
    file.write_text(SECOND)
    monkeypatch.setenv("KUBECONFIG", f"{path}:{file}")
    return file


def test_files_are_merged_and_the_first_entry_of_a_name_counts(path: Path, second: Path) -> None:
    config = kubeconfig.load()
    assert config["current-context"] == "prod"
    names = [entry["name"] for entry in config["contexts"]]
    assert names == ["dev", "prod", "broken", "anonymous", "laptop", "split"]
    assert [entry["name"] for entry in config["users"]] == ["me", "admin"]
    assert "token" not in config["users"][0]["user"]
    authority = config["clusters"][2]["cluster"]["certificate-authority"]
    assert authority == str(second.parent / "ca.crt")


def test_context_in_the_second_file_is_found(path: Path, second: Path) -> None:
    assert kubeconfig.find(None, "laptop") == second
    assert kubeconfig.find(None, "dev") == path
    server = yaml.safe_load(kubeconfig.only(second, "laptop"))["clusters"][0]["cluster"]["server"]
    assert server == "https://laptop"


def test_context_is_kept_with_absolute_paths_and_without_the_credentials_of_others(
    path: Path,
) -> None:
    text = kubeconfig.only(path, "dev")
    assert "secret" not in text
    config = yaml.safe_load(text)
    assert config["current-context"] == "dev"
    assert [entry["name"] for entry in config["contexts"]] == ["dev"]
    assert config["contexts"][0]["context"]["namespace"] == "mine"
    authority = config["clusters"][0]["cluster"]["certificate-authority"]
    assert authority == str(path.parent / "pki/ca.crt")
    user = config["users"][0]["user"]
    assert user == {"client-certificate": "/abs/me.crt", "client-key": str(path.parent / "me.key")}
    assert yaml.safe_load(kubeconfig.only(path, "anonymous"))["users"] == []


def test_unknown_context_is_an_error(path: Path) -> None:
    fault = r"no context 'staging' in .*; its contexts: dev, prod, broken, anonymous"
    with pytest.raises(LockstepError, match=fault):
        kubeconfig.find(str(path), "staging")


def test_context_without_its_cluster_is_an_error(path: Path) -> None:
    with pytest.raises(LockstepError, match="names a cluster that is not in that file"):
        kubeconfig.only(path, "broken")


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a: [", "cannot read"), ("- 1", "is not a kubeconfig"), ("{}", "its contexts: none")],
)
def test_file_that_is_not_a_kubeconfig_is_an_error(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    with pytest.raises(LockstepError, match=fault):
        kubeconfig.find(str(file), "dev")


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
