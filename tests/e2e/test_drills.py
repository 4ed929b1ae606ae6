"""What happens to gangs that are struck, updated, scaled and kept waiting; on one cluster."""

from collections.abc import Iterator
from typing import Any, cast

import pytest
from lightkube.models.core_v1 import ResourceQuotaSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod, ResourceQuota

from lockstep.kube import client as kube
from tests.e2e.conftest import LiveStack, MakeStack, changes

EXPECTED = {
    "recovery": "recreated",
    "rolling-update": "rolled",
    "scale": "scaled",
    "leader-ready": "leader-first",
}


@pytest.fixture(scope="module")
def drilled(make_stack: MakeStack) -> LiveStack:
    """All of them side by side, each on its own workers."""
    stack = make_stack(
        "recovery", name="e2e-drills", scenarios=list(EXPECTED), groups=2, workersPerScenario=12
    )
    stack.deploy()
    return stack


@pytest.fixture
def no_new_pods(drilled: LiveStack, request: pytest.FixtureRequest) -> Iterator[None]:
    """A quota that lets no pod in: what is killed does not come back."""
    namespace = f"lockstep-{request.param}"
    quota = ResourceQuota(
        metadata=ObjectMeta(name="none", namespace=namespace),
        spec=ResourceQuotaSpec(hard={"pods": "0"}),
    )
    with drilled.client() as client:
        client.create(quota)
        yield
        client.delete(ResourceQuota, "none", namespace=namespace)


def verdict(stack: LiveStack, scenario: str) -> dict[str, Any]:
    found: dict[str, Any] = stack.outputs()["verdicts"][scenario]
    return found


def taints(stack: LiveStack) -> dict[str, list[str]]:
    """Keys of taints by node, of the nodes that have any."""
    found: dict[str, list[str]] = {}
    with stack.client() as client:
        nodes = list(client.list(Node))
    for node in nodes:
        if node.metadata and node.metadata.name and node.spec and node.spec.taints:
            found[node.metadata.name] = [taint.key for taint in node.spec.taints]
    return found


@pytest.mark.parametrize(("scenario", "expected"), EXPECTED.items())
def test_verdict_is_the_expected_one(drilled: LiveStack, scenario: str, expected: str) -> None:
    found = verdict(drilled, scenario)
    assert (found["observed"], found["ok"]) == (expected, True), found["reason"]
    assert found["bound"] == found["size"]


def test_recovery_tells_how_long_each_return_took(drilled: LiveStack) -> None:
    measures = verdict(drilled, "recovery")["measures"]
    assert set(measures) == {
        "leaderRecoverySeconds",
        "workerRecoverySeconds",
        "nodeRecoverySeconds",
    }
    assert all(0 < seconds < 60 for seconds in measures.values())


def test_rolling_update_tells_how_many_groups_stayed_up(drilled: LiveStack) -> None:
    # Without a surge 1 was seen in three runs and 0 in one; why is not known, so both are taken.
    measures = verdict(drilled, "rolling-update")["measures"]
    assert measures["groupsUp"] in (0, 1)
    assert measures["groupsUpWithSurge"] in (0, 1, 2)


def test_scale_leaves_one_group_and_its_pod_group(drilled: LiveStack) -> None:
    with drilled.client() as client:
        assert len(list(client.list(Pod, namespace="lockstep-scale"))) == 4
        assert len(list(client.list(kube.PodGroup, namespace="lockstep-scale"))) == 1


def test_leader_ready_binds_a_part(drilled: LiveStack) -> None:
    found = verdict(drilled, "leader-ready")
    assert found["measures"]["boundWithoutRoom"] == 2
    assert found["podGroup"]["minMember"] == 1


def test_drills_leave_the_taints_of_the_stack_only(drilled: LiveStack) -> None:
    found = taints(drilled)
    assert set().union(*found.values()) == {"lockstep.dev/blocked"}
    assert all(node.startswith("rolling-update-") for node in found)
    assert len(found) == 8  # of 12 workers, 4 hold the two groups


def test_drills_make_no_drift(drilled: LiveStack) -> None:
    assert changes(drilled.deploy("--refresh")) == []


@pytest.mark.parametrize(
    ("no_new_pods", "observed", "reason"),
    [
        ("recovery", "lost", "after leader killed"),
        ("rolling-update", "strayed", "update without surge"),
        ("scale", "strayed", "scaled to 2"),
        ("leader-ready", "lost", "was not recreated"),
    ],
    indirect=["no_new_pods"],
)
@pytest.mark.usefixtures("no_new_pods")
def test_a_group_that_is_not_recreated_fails_the_verdict(
    drilled: LiveStack,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    observed: str,
    reason: str,
) -> None:
    scenario = request.node.callspec.params["no_new_pods"]
    monkeypatch.setitem(cast("dict[str, str]", drilled.environment), "LOCKSTEP_PATIENCE", "6")
    output = drilled.judge_again(scenario, ok=False)
    assert f"{scenario}: expected {EXPECTED[scenario]}, observed {observed}" in output
    assert reason in output
    assert "the drill timed out after 6 s" in output


def test_a_drill_succeeds_after_one_that_failed(drilled: LiveStack) -> None:
    drilled.judge_again("leader-ready", ok=True)
    assert set().union(*taints(drilled).values()) == {"lockstep.dev/blocked"}


def test_destroy_leaves_nothing(drilled: LiveStack) -> None:
    drilled.pulumi("destroy", "--yes", "--skip-preview")
    drilled.assert_nothing_left()
