from typing import Any

import pytest

from lockstep import cli
from lockstep.kube import client as kube
from lockstep.lws.config_text import with_scheduler_provider
from lockstep.lws.names import ORIGINAL_ANNOTATION
from tests.unit.lockstep.memory_api import MemoryApi

CONFIG_MAP = "/api/v1/namespaces/lws-system/configmaps/lws-manager-config"
MANAGER = "/apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager"
KEY = "controller_manager_config.yaml"
UPSTREAM = "kind: Configuration\n# theirs\nleaderElection: {leaderElect: true}\n"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> MemoryApi:
    """LWS as two patches of Pulumi leave it."""
    api = MemoryApi()
    left = {"annotations": {"pulumi.com/patchForce": "true", "theirs": "1"}}
    text = with_scheduler_provider(UPSTREAM)
    kept = {"annotations": {**left["annotations"], ORIGINAL_ANNOTATION: UPSTREAM}}
    api.put(CONFIG_MAP, {"metadata": kept, "data": {KEY: text, "other": "kept"}})
    pods = {"annotations": {"lockstep.dev/config": "abc", "theirs": "1"}}
    spec = {"replicas": 2, "selector": {}, "template": {"metadata": pods}}
    api.put(MANAGER, {"metadata": dict(left), "spec": spec})
    monkeypatch.setattr(kube, "client", lambda *_: api.client())
    monkeypatch.setenv("LOCKSTEP_KUBECONFIG", "/kubeconfig")
    return api


def notes(thing: dict[str, Any]) -> dict[str, str]:
    return dict(thing["metadata"]["annotations"])


def test_restore_gives_lws_its_own_text_back(api: MemoryApi) -> None:
    assert cli.main(["step", "gang-config", "restore"]) == 0
    assert api.objects[CONFIG_MAP]["data"] == {KEY: UPSTREAM, "other": "kept"}
    assert notes(api.objects[CONFIG_MAP]) == {"theirs": "1"}


def test_restore_restarts_the_manager_after_its_config_is_back(api: MemoryApi) -> None:
    cli.main(["step", "gang-config", "restore"])
    assert api.patches == [CONFIG_MAP, MANAGER]
    assert api.objects[MANAGER]["spec"]["replicas"] == 2
    assert notes(api.objects[MANAGER]["spec"]["template"]) == {"theirs": "1"}
    assert notes(api.objects[MANAGER]) == {"theirs": "1"}


@pytest.mark.parametrize("gone", [(CONFIG_MAP,), (MANAGER,), (CONFIG_MAP, MANAGER)], ids=str)
def test_restore_of_an_lws_that_is_gone_is_done(api: MemoryApi, gone: tuple[str, ...]) -> None:
    for path in gone:
        del api.objects[path]
    assert cli.main(["step", "gang-config", "restore"]) == 0


def test_restore_without_a_config_still_cleans_up(api: MemoryApi) -> None:
    api.put(CONFIG_MAP, {"metadata": {"annotations": {}}})
    assert cli.main(["step", "gang-config", "restore"]) == 0
    assert "data" not in api.objects[CONFIG_MAP]


def test_restore_whose_patch_is_refused_is_an_error_of_one_line(
    api: MemoryApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.refused = ("PATCH",)
    assert cli.main(["step", "gang-config", "restore"]) == 2
    assert "cannot restore ConfigMap lws-manager-config: forbidden" in capsys.readouterr().err
