from pathlib import Path

import pytest
import yaml

import toolchain
from lockstep.local import command_lines
from lockstep.local.control_plane import PORTS
from lockstep.local.embedded_cluster import EmbeddedCluster

NUMBERS = {name: 20000 + index for index, name in enumerate(PORTS)}


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    monkeypatch.setattr(toolchain, "tool", lambda name: Path(f"/tools/{name}"))
    programs = command_lines.control_plane(EmbeddedCluster("one", tmp_path, NUMBERS))
    return {name: list(program.command) for name, program in programs.items()}


def test_only_the_api_server_listens_and_on_loopback(commands: dict[str, list[str]]) -> None:
    assert "--bind-address=127.0.0.1" in commands["kube-apiserver"]
    assert f"--secure-port={NUMBERS['apiserver']}" in commands["kube-apiserver"]
    for name in ("kube-controller-manager", "kube-scheduler"):
        assert "--secure-port=0" in commands[name]
    urls = [option for option in commands["etcd"] if option.startswith("--listen-")]
    assert len(urls) == 2
    assert all("=unix://" in url for url in urls)
    assert not any("--server-address" in option for option in commands["kwok"])


def test_anonymous_requests_reach_health_only(
    commands: dict[str, list[str]], tmp_path: Path
) -> None:
    file = tmp_path / "authentication.yaml"
    assert f"--authentication-config={file}" in commands["kube-apiserver"]
    anonymous = yaml.safe_load(file.read_text())["anonymous"]
    assert anonymous["conditions"] == [
        {"path": "/livez"},
        {"path": "/readyz"},
        {"path": "/healthz"},
    ]


def test_kwok_reads_the_stages_of_nodes_and_pods(tmp_path: Path, commands: object) -> None:
    stages = list(yaml.safe_load_all((tmp_path / "kwok.yaml").read_text()))
    assert {stage["spec"]["resourceRef"]["kind"] for stage in stages} == {"Node", "Pod"}


def test_restarted_kwok_need_not_wait_for_leases(commands: dict[str, list[str]]) -> None:
    assert "--node-lease-duration-seconds=0" in commands["kwok"]
    # Without leases there are no heartbeats.
    assert "--node-monitor-grace-period=87600h" in commands["kube-controller-manager"]
