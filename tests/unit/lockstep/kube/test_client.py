"""Clients: which kubeconfig and context they use, and how a failed request is reported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from tests.unit.lockstep import fake_api
from tests.unit.lockstep.fake_api import PODS, FakeApi, serving


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    with serving(tmp_path) as served:
        yield served


def test_kubeconfig_faults_are_one_line(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    with pytest.raises(LockstepError, match="there is no kubeconfig"):
        kube.load(str(missing))
    broken = tmp_path / "broken"
    broken.write_text("just: [text")
    with pytest.raises(LockstepError, match="cannot read the kubeconfig"):
        kube.load(str(broken))
    good = fake_api.kubeconfig(tmp_path / "good", "http://127.0.0.1:1")
    with pytest.raises(LockstepError, match="Context 'other' not found"):
        kube.load(str(good), "other")


def test_context_of_a_second_kubeconfig_file_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fake_api.kubeconfig(tmp_path / "1", "http://127.0.0.1:1", context="one")
    second = fake_api.kubeconfig(tmp_path / "2", "http://127.0.0.1:2", context="two")
    text = second.read_text()
    second.write_text(text.replace("cluster: c", "cluster: d").replace("name: c\n", "name: d\n"))
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}")
    assert kube.load().cluster.server == "http://127.0.0.1:1"
    assert kube.load(context="two").cluster.server == "http://127.0.0.1:2"


def test_credential_plugins_of_version_1_are_used(tmp_path: Path) -> None:
    plugin: dict[str, Any] = {"apiVersion": "client.authentication.k8s.io/v1", "command": "token"}
    path = fake_api.kubeconfig(tmp_path / "k", "https://example.test", exec=plugin)
    user = kube.load(str(path)).user
    assert user is not None
    assert user.exec is not None
    assert user.exec.apiVersion == "client.authentication.k8s.io/v1beta1"


def test_proxy_of_the_environment_is_not_used_for_this_machine(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    api[0].put("a")
    client = kube.client(str(api[1]))
    assert [pod["metadata"]["name"] for pod in client.list(kube.Pod, namespace="test")] == ["a"]
    client.close()


def test_async_client_waits_as_long_as_the_other(api: tuple[FakeApi, Path]) -> None:
    client = kube.async_client(str(api[1]))
    assert client._timeout.read == kube.TIMEOUT.read == 60


def test_client_from_env_needs_a_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCKSTEP_KUBECONFIG", raising=False)
    message = "LOCKSTEP_KUBECONFIG is not set; set it to the path of a kubeconfig"
    with pytest.raises(LockstepError, match=message), kube.client_from_env():
        pass


def test_client_from_env_reports_a_failed_request_in_one_line(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_KUBECONFIG", str(api[1]))
    api[0].statuses[PODS] = 403
    with (
        pytest.raises(LockstepError, match="request to the Kubernetes API failed: status 403"),
        kube.client_from_env() as client,
    ):
        list(client.list(kube.Pod, namespace="test"))
