"""Clients: which kubeconfig and context they use, and how a failed request is reported."""

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


def test_unknown_context_is_an_error(tmp_path: Path) -> None:
    good = fake_api.kubeconfig(tmp_path / "good", "http://127.0.0.1:1")
    with pytest.raises(LockstepError, match="Context 'other' not found"):
        kube.load(str(good), "other")


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
