import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from lockstep import cli
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.kube import crds
from tests.unit.lockstep.lws.test_upgrade import REVISIONS, revision
from tests.unit.lockstep.memory_api import MemoryApi

HOME = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
DISAGGREGATED = "disaggregatedsets.disaggregatedset.x-k8s.io"
LISTED = "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"
MANAGER = "/apis/apps/v1/namespaces/lws-system/deployments/lws-controller-manager"
SERVED = {"conditions": [{"type": "Established", "status": "True"}]}


def definition(name: str = SETS) -> dict[str, Any]:
    plural, _, group = name.partition(".")
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "annotations": {"theirs": "1"}},
        "spec": {
            "group": group,
            "names": {"kind": "LeaderWorkerSet", "plural": plural},
            "versions": [{"name": "v1alpha1", "storage": False}, {"name": "v1", "storage": True}],
        },
    }


class DefiningApi(MemoryApi):
    """Server-side apply that creates, and deletion."""

    def __init__(self) -> None:
        super().__init__()
        self.users: list[dict[str, Any]] = []
        self.applied: list[httpx2.Request] = []
        self.never_serves = False
        """Whether definitions are accepted but their kinds never served."""

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if request.method in self.refused:
            return super()._answer(request)
        if request.method == "PATCH":
            self.applied.append(request)
            sent = json.loads(request.content)
            self.put(
                path, {**sent, "status": {"conditions": None} if self.never_serves else SERVED}
            )
            return httpx2.Response(200, json=self.objects[path])
        if request.method == "DELETE":
            del self.objects[path]
            return httpx2.Response(200, json={"kind": "Status", "status": "Success"})
        if path == LISTED:
            return httpx2.Response(200, json={"metadata": {}, "items": self.users})
        return super()._answer(request)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> DefiningApi:
    api = DefiningApi()
    monkeypatch.setattr(kube, "client", lambda *_: api.client())
    monkeypatch.setattr(crds, "TIMEOUT", 0.2)
    monkeypatch.setenv("LOCKSTEP_KUBECONFIG", "/kubeconfig")
    monkeypatch.setenv("LOCKSTEP_VERSION", "0.9.0")
    monkeypatch.delenv("LOCKSTEP_CHART", raising=False)
    monkeypatch.delenv("PULUMI_COMMAND_STDOUT", raising=False)
    return api


@pytest.fixture
def chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crds").mkdir()
    for name in (SETS, DISAGGREGATED):
        (tmp_path / "crds" / f"{name}.yaml").write_text(yaml.safe_dump(definition(name)))
    monkeypatch.setenv("LOCKSTEP_CHART", str(tmp_path))
    return tmp_path


def user(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "theirs", **metadata}}


def install(api: DefiningApi, image: str) -> None:
    pods = {"spec": {"containers": [{"image": image}]}}
    api.put(MANAGER, {"spec": {"template": pods}})


@pytest.mark.parametrize("folder", ["crds", "templates/crds"])
def test_definitions_are_found_where_any_version_has_them(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "sets.yaml").write_text(yaml.safe_dump(definition()))
    assert crds.of_chart(tmp_path) == [definition()]


def test_chart_without_definitions_is_an_error_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(LockstepError, match="has no CRDs"):
        crds.of_chart(tmp_path)


def test_apply_installs_every_kind_and_keeps_helm_off(
    api: DefiningApi, chart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chart.is_dir()
    assert cli.main(["step", "crds", "apply"]) == 0
    assert json.loads(capsys.readouterr().out) == {"others": []}
    for name in (SETS, DISAGGREGATED):
        metadata = api.objects[f"{HOME}/{name}"]["metadata"]
        assert metadata["annotations"] == {"theirs": "1", "helm.sh/resource-policy": "keep"}
        assert metadata["labels"] == {crds.INSTALLED_LABEL: "true"}


def test_apply_waits_until_the_kinds_are_served(
    api: DefiningApi, chart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chart.is_dir()
    api.never_serves = True
    assert cli.main(["step", "crds", "apply"]) == 2
    assert "timed out after 0.2 s waiting for the CRD disaggregatedsets" in capsys.readouterr().err


def test_definition_that_was_there_is_updated_but_stays_theirs(
    api: DefiningApi, chart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chart.is_dir()
    api.put(f"{HOME}/{SETS}", definition())
    cli.main(["step", "crds", "apply"])
    assert json.loads(capsys.readouterr().out) == {"others": [SETS]}
    assert api.objects[f"{HOME}/{SETS}"]["metadata"]["labels"] == {}
    assert api.objects[f"{HOME}/{DISAGGREGATED}"]["metadata"]["labels"] != {}


def test_definitions_and_lws_of_an_interrupted_install_are_ours(
    api: DefiningApi, chart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chart.is_dir()
    cli.main(["step", "crds", "apply"])
    install(api, "registry.k8s.io/lws/lws:v0.9.0")
    assert cli.main(["step", "crds", "apply"]) == 0  # without the state that a finished one leaves
    assert capsys.readouterr().out.count('{"others": []}') == 2
    assert api.objects[f"{HOME}/{SETS}"]["metadata"]["labels"] == {crds.INSTALLED_LABEL: "true"}


def test_definition_that_helm_installed_becomes_ours_with_a_chart_at_hand(
    api: DefiningApi, chart: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert chart.is_dir()
    api.put(f"{HOME}/{SETS}", definition())
    monkeypatch.setenv("PULUMI_COMMAND_STDOUT", '{"others": []}')
    cli.main(["step", "crds", "apply"])
    assert api.objects[f"{HOME}/{SETS}"]["metadata"]["labels"] == {crds.INSTALLED_LABEL: "true"}


@pytest.mark.parametrize(
    ("image", "refused"),
    [
        ("registry.k8s.io/lws/lws:v0.8.0", True),
        ("registry:5000/lws:v0.8.0@sha256:1", True),
        ("registry.k8s.io/lws/lws:v0.9.0", False),
        (None, False),
    ],
)
def test_upgrade_without_definitions_at_hand_is_refused(
    api: DefiningApi, capsys: pytest.CaptureFixture[str], image: str | None, refused: bool
) -> None:
    if image:
        install(api, image)
    assert cli.main(["step", "crds", "apply"]) == (2 if refused else 0)
    assert api.applied == []
    error = capsys.readouterr().err
    assert ("LWS 0.8.0 is installed, and an upgrade to 0.9.0" in error) == refused
    assert ("make tools" in error) == refused
    assert error.count("\n") == refused


@pytest.mark.parametrize("used", [True, False])
def test_upgrade_that_would_replace_every_pod_is_refused_before_anything_changes(
    api: DefiningApi,
    chart: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    used: bool,
) -> None:
    assert chart.is_dir()
    api.users = [user("one", uid="1")] if used else []
    api.put(f"{REVISIONS}/one-1", revision("1", "0.7.0"))
    install(api, "registry.k8s.io/lws/lws:v0.7.0")
    monkeypatch.setenv("LOCKSTEP_VERSION", "0.8.0")
    assert cli.main(["step", "crds", "apply"]) == (2 if used else 0)
    assert bool(api.applied) != used
    error = capsys.readouterr().err
    assert ("lws#797" in error) == used
    assert error.count("\n") == used


@pytest.mark.parametrize("with_chart", [True, False])
def test_lws_that_was_installed_before_is_refused(
    api: DefiningApi,
    chart: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    with_chart: bool,
) -> None:
    monkeypatch.setenv("LOCKSTEP_CHART", str(chart) if with_chart else "")
    api.put(f"{HOME}/{SETS}", definition())
    install(api, "registry.k8s.io/lws/lws:v0.9.0")
    assert cli.main(["step", "crds", "apply"]) == 2
    assert api.applied == []
    assert "already has LWS 0.9.0; set lockstep:installLws to false" in capsys.readouterr().err


LEAVING = user("one", deletionTimestamp="2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("others", "users", "left", "said"),
    [
        pytest.param([], [], set(), "", id="ours, or of our Helm release"),
        pytest.param([SETS], [], {SETS}, "", id="there before"),
        pytest.param([], [LEAVING], set(), "", id="its objects are being deleted"),
        pytest.param(
            [],
            [user("one"), user("two")],
            {SETS},
            f"{SETS} is kept, as 2 objects of it exist, such as theirs/one\n",
            id="others have objects of it",
        ),
    ],
)
def test_remove_takes_only_what_is_ours_and_unused(
    api: DefiningApi,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    others: list[str],
    users: list[dict[str, Any]],
    left: set[str],
    said: str,
) -> None:
    api.put(f"{HOME}/{SETS}", definition())
    api.put(f"{HOME}/things.example.com", definition("things.example.com"))
    api.users = users
    monkeypatch.setenv("PULUMI_COMMAND_STDOUT", json.dumps({"others": others}))
    assert cli.main(["step", "crds", "remove"]) == 0
    assert set(api.objects) == {f"{HOME}/{name}" for name in {"things.example.com", *left}}
    assert capsys.readouterr().out == said


def test_remove_must_know_what_was_there_before(
    api: DefiningApi, capsys: pytest.CaptureFixture[str]
) -> None:
    api.put(f"{HOME}/{SETS}", definition())
    assert cli.main(["step", "crds", "remove"]) == 2
    assert f"{HOME}/{SETS}" in api.objects
    assert "PULUMI_COMMAND_STDOUT is empty" in capsys.readouterr().err
