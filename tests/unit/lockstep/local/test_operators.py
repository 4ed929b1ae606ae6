from pathlib import Path

import pytest
import yaml
from lightkube import Client

from lockstep.local import operators, supervisor
from lockstep.local.control_plane import PORTS
from lockstep.local.embedded_cluster import EmbeddedCluster
from lockstep.local.supervisor import Program

NUMBERS = {name: 20000 + index for index, name in enumerate(PORTS)}
UPSTREAM = """
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
leaderElection:
  leaderElect: true
  resourceName: kept
internalCertManagement:
  enable: true
  webhookServiceName: kept
gangSchedulingManagement:
  schedulerProvider: volcano
clientConnection:
  qps: 7
unknownToUs: kept
"""


KUBECONFIG = {
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443"}}],
    "users": [{"name": "u", "user": {}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
}


def test_operators_reach_the_cluster_without_the_proxy_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(KUBECONFIG))
    used: list[Client] = []

    def prepare(
        _cluster: object, client: Client, _folder: object, _version: str
    ) -> dict[str, Program]:
        used.append(client)
        return {}

    monkeypatch.setattr(supervisor, "run", lambda _folder, _programs: None)
    monkeypatch.setattr(supervisor, "restart", lambda _folder, _name: None)
    monkeypatch.setitem(operators.OPERATORS, "test", operators.Operator(prepare, []))
    operators.start(EmbeddedCluster("one", tmp_path, {}), "test", "")
    http_client = used[0]._client._client
    assert not http_client.trust_env
    assert http_client.timeout.read == 60


def test_host_config_keeps_what_the_cluster_says() -> None:
    config = operators.host_config(UPSTREAM, NUMBERS, Path("/certs"))
    assert config["gangSchedulingManagement"] == {"schedulerProvider": "volcano"}
    assert config["clientConnection"] == {"qps": 7}
    assert config["unknownToUs"] == "kept"
    assert config["leaderElection"] == {"leaderElect": False, "resourceName": "kept"}
    assert config["internalCertManagement"]["webhookServiceName"] == "kept"


def test_host_config_serves_on_loopback_with_the_clusters_certificates() -> None:
    config = operators.host_config(UPSTREAM, NUMBERS, Path("/certs"))
    assert config["internalCertManagement"]["enable"] is False
    assert config["webhook"] == {
        "host": "127.0.0.1",
        "port": NUMBERS["lwsWebhook"],
        "certDir": "/certs",
    }
    assert config["health"]["healthProbeBindAddress"] == f"127.0.0.1:{NUMBERS['lwsHealth']}"
    assert config["metrics"]["bindAddress"] == "0"


@pytest.mark.parametrize("running", [None, "digest"])
def test_garbage_collector_learns_the_kinds_of_a_new_operator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: str | None
) -> None:
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(KUBECONFIG))
    restarted: list[str] = []
    monkeypatch.setattr(supervisor, "run", lambda _folder, _programs: None)
    monkeypatch.setattr(supervisor, "running", lambda _folder, _name: running)
    monkeypatch.setattr(supervisor, "restart", lambda _folder, name: restarted.append(name))
    prepared = {"manager": Program(["manager"])}
    operator = operators.Operator(lambda *_: prepared, [])
    monkeypatch.setitem(operators.OPERATORS, "test", operator)
    operators.start(EmbeddedCluster("one", tmp_path, {}), "test", "")
    assert restarted == ([] if running else ["kube-controller-manager"])
