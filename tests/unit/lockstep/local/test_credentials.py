import base64
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.local import certificates, credentials
from lockstep.local.embedded_cluster import EmbeddedCluster


@pytest.fixture
def cluster(tmp_path: Path) -> EmbeddedCluster:
    made = EmbeddedCluster("one", tmp_path, {"apiserver": 20001, "lwsWebhook": 20002})
    certificates.create(made.pki)
    return made


def user(path: Path) -> dict[str, Any]:
    assert oct(path.stat().st_mode & 0o777) == "0o600"
    config = yaml.safe_load(path.read_text())
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:20001"
    found: dict[str, Any] = config["users"][0]["user"]
    return found


def test_administrator_has_the_certificate_inside(cluster: EmbeddedCluster) -> None:
    credentials.write_administrator(cluster)
    found = user(cluster.kubeconfig)
    key = base64.b64decode(found["client-key-data"])
    assert key == (cluster.pki / "admin.key").read_bytes()
    assert (
        base64.b64encode((cluster.pki / "ca.crt").read_bytes()).decode()
        == (cluster.describe()["webhookCa"])
    )


def test_operator_has_no_lasting_credential(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    path = tmp_path / "operator.kubeconfig"
    credentials.write_service_account(cluster, path, "lws-system", "manager")
    found = user(path)
    assert set(found) == {"exec"}
    assert found["exec"]["command"] == sys.executable
    assert found["exec"]["args"][-2:] == ["lws-system", "manager"]
    assert found["exec"]["interactiveMode"] == "Never"
