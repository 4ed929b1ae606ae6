"""Each stack on the real engine and cluster: preview, up, look, up again, destroy."""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube.resources.core_v1 import ConfigMap, Node, Pod

from lockstep.kube import client as kube
from tests.e2e.conftest import LiveStack, MakeStack, changes

EXPECTED = {
    "gang": {"gang": ("placed", 4)},
    "constrained": {"constrained": ("held", 0)},
    "no-gang": {"no-gang": ("partial", 2)},
    "all": {"gang": ("placed", 4), "constrained": ("held", 0), "no-gang": ("partial", 2)},
}


def bound_pods(stack: LiveStack, scenario: str) -> int:
    with stack.client() as client:
        pods = list(client.list(Pod, namespace=f"lockstep-{scenario}"))
    return sum(1 for pod in pods if pod.spec and pod.spec.nodeName)


def temporary_kubeconfigs() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("kubeconfig*"))


def verdicts(stack: LiveStack) -> dict[str, Any]:
    found: dict[str, Any] = stack.outputs()["verdicts"]
    return found


@pytest.mark.parametrize("base", list(EXPECTED))
def test_stack_is_deployed_judged_and_removed(make_stack: MakeStack, base: str) -> None:
    stack = make_stack(base)
    before = temporary_kubeconfigs()
    preview = stack.pulumi("preview")
    assert "error" not in preview
    stack.assert_nothing_left()  # a preview makes nothing

    stack.deploy()
    for scenario, (expected, bound) in EXPECTED[base].items():
        verdict = verdicts(stack)[scenario]
        assert (verdict["expected"], verdict["observed"], verdict["ok"]) == (
            expected,
            expected,
            True,
        )
        assert (verdict["bound"], verdict["size"]) == (bound, 4)
        assert bound_pods(stack, scenario) == bound

    assert changes(stack.deploy()) == []

    stack.pulumi("destroy", "--yes", "--skip-preview")
    stack.assert_nothing_left()
    assert temporary_kubeconfigs() == before


@pytest.fixture(scope="module")
def platform(make_stack: MakeStack) -> LiveStack:
    """A stack that several tests look at and change."""
    stack = make_stack("constrained", name="e2e-platform")
    stack.deploy()
    return stack


def lws_config(stack: LiveStack) -> dict[str, Any]:
    with stack.client() as client:
        found = client.get(ConfigMap, "lws-manager-config", namespace="lws-system")
    config: dict[str, Any] = yaml.safe_load((found.data or {})["controller_manager_config.yaml"])
    return config


def lws_pid(stack: LiveStack) -> int:
    return int(stack.processes("lws-manager")[0].pid)


def test_outputs_are_the_contract_and_the_kubeconfig_is_secret(platform: LiveStack) -> None:
    outputs = platform.outputs()
    assert set(outputs) >= {"kubeconfig", "cluster", "versions", "verdicts"}
    assert outputs["cluster"] == {"name": platform.cluster_name(), "provider": "kwok"}
    verdict = outputs["verdicts"]["constrained"]
    assert set(verdict) >= {
        "expected",
        "observed",
        "ok",
        "bound",
        "size",
        "bindSkewSeconds",
        "podGroup",
        "evidence",
    }
    assert verdict["podGroup"]["minMember"] == 4
    plain = json.loads(platform.pulumi("stack", "output", "--json"))
    assert plain["kubeconfig"] == "[secret]"


def test_lws_config_has_the_upstream_keys_and_ours(platform: LiveStack) -> None:
    config = lws_config(platform)
    assert config["gangSchedulingManagement"] == {"schedulerProvider": "volcano"}
    assert config["kind"] == "Configuration"
    assert config["leaderElection"] == {"leaderElect": True}
    assert config["internalCertManagement"] == {"enable": True}


def test_workers_have_the_configured_size(platform: LiveStack) -> None:
    with platform.client() as client:
        nodes = list(client.list(Node, labels={"lockstep.dev/pool": "constrained"}))
    assert len(nodes) == 3
    for node in nodes:
        assert node.status
        allocatable = node.status.allocatable or {}
        assert (allocatable["cpu"], allocatable["memory"]) == ("4", "8Gi")


def test_an_untouched_operator_is_not_restarted(platform: LiveStack) -> None:
    before = lws_pid(platform)
    platform.deploy()
    assert lws_pid(platform) == before


def test_a_crashed_operator_is_started_again(platform: LiveStack) -> None:
    scheduler = platform.processes("vc-scheduler")[0]
    scheduler.kill()
    until = time.monotonic() + 30
    while [p.pid for p in platform.processes("vc-scheduler")] in ([], [scheduler.pid]):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_released_worker_releases_the_whole_gang(platform: LiveStack) -> None:
    platform.configure(taintedWorkers=1)
    platform.deploy()
    verdict = verdicts(platform)["constrained"]
    assert verdict["observed"] == "released"
    assert verdict["bound"] == 4
    assert bound_pods(platform, "constrained") == 4


def test_gang_scheduling_off_takes_the_patch_back_and_restarts_lws(platform: LiveStack) -> None:
    before = lws_pid(platform)
    platform.configure(gangScheduling=False, scenarios=[])
    platform.deploy()
    config = lws_config(platform)
    assert "gangSchedulingManagement" not in config
    assert config["internalCertManagement"] == {"enable": True}
    assert lws_pid(platform) != before


def test_refresh_of_a_living_stack_loses_nothing(platform: LiveStack) -> None:
    assert " deleted" not in platform.pulumi("refresh", "--yes", "--skip-preview")
    again = platform.deploy()
    assert " created" not in again
    assert " replaced" not in again


@pytest.fixture(scope="module")
def pair(make_stack: MakeStack) -> LiveStack:
    """Two gangs in one set."""
    stack = make_stack("gang", name="e2e-two-groups", groups=2, workersPerScenario=4)
    stack.deploy()
    return stack


def test_kube_client_sees_podgroups(pair: LiveStack) -> None:
    with pair.client() as client:
        groups = list(client.list(kube.PodGroup, namespace="lockstep-gang"))
    assert len(groups) == 2


def test_a_changed_set_is_judged_when_every_gang_of_it_is_new(pair: LiveStack) -> None:
    """Also in a young cluster, which keeps the PodGroups of the old gangs for half a minute."""
    before = pods(pair)
    pair.configure(groupSize=3)
    pair.deploy()
    verdict = verdicts(pair)["gang"]
    assert (verdict["observed"], verdict["ok"], verdict["bound"]) == ("placed", True, 6)
    assert len(pods(pair)) == 6
    assert not before & pods(pair)
    with pair.client() as client:
        events = list(client.list(kube.Event, namespace="lockstep-gang"))
    # A simulated kubelet that deletes a pod's successor makes LWS start over.
    # LWS 0.9 has another name for it.
    again = {"RecreateGroupOnPodRestart", "RecreateGroup"}
    assert not again & {event["reason"] for event in events}


def pods(stack: LiveStack) -> set[str]:
    """Their uids."""
    with stack.client() as client:
        found = client.list(kube.Pod, namespace="lockstep-gang")
        return {str(pod.metadata.uid) for pod in found if pod.metadata}
