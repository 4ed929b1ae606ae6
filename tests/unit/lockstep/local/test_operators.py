from pathlib import Path

from lockstep.local import operators
from lockstep.local.control_plane import PORTS

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


def test_host_config_keeps_what_the_cluster_says() -> None:
    config = operators.host_config(UPSTREAM, NUMBERS, Path("/certs"))
    assert config["gangSchedulingManagement"] == {"schedulerProvider": "volcano"}
    assert config["clientConnection"] == {"qps": 7}
    assert config["unknownToUs"] == "kept"
    assert config["leaderElection"] == {"leaderElect": False, "resourceName": "kept"}
    assert config["internalCertManagement"]["webhookServiceName"] == "kept"


def test_host_config_without_a_provider_has_none() -> None:
    config = operators.host_config("kind: Configuration\n", NUMBERS, Path("/certs"))
    assert "gangSchedulingManagement" not in config


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
