"""Unsound verdicts on purpose: `up` fails unless everything was seen, also when it is repeated."""

import re
from collections.abc import Iterator

import pytest
from lightkube import Client
from lightkube.resources.core_v1 import Pod

from lockstep import paths
from lockstep.local.embedded_cluster import volcano_conf
from lockstep.wait import wait_until
from tests.e2e.conftest import LiveStack, MakeStack

NAMESPACE = "lockstep-constrained"


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A gang that is held."""
    made = make_stack("constrained", name="e2e-proof")
    made.deploy()
    return made


@pytest.fixture
def without_gang_plugin(stack: LiveStack) -> Iterator[None]:
    """Take the plugin `gang` out of the configuration that Volcano runs with, and put it back."""
    conf = volcano_conf(paths.cluster_dir(stack.cluster_name()))
    before = conf.read_text()
    conf.write_text(re.sub(r"  - name: gang\n(    .*\n)*", "", before))
    yield
    conf.write_text(before)


def bound(client: Client) -> int:
    pods = client.list(Pod, namespace=NAMESPACE)
    return sum(1 for pod in pods if pod.spec and pod.spec.nodeName)


@pytest.mark.usefixtures("without_gang_plugin")
def test_gang_that_started_in_part_before_its_release_is_torn(stack: LiveStack) -> None:
    with stack.client() as client:
        wait_until("a part of the gang", lambda: bound(client) > 0, seconds=60)
    stack.configure(taintedWorkers=1)
    output = stack.deploy(ok=False)
    assert "constrained: expected released, observed torn: " in output
    assert "already when the recording began" in output


def test_failed_verdict_is_not_healed_by_the_next_update(stack: LiveStack) -> None:
    output = stack.deploy(ok=False)
    assert "observed unproven: the last verdict on these pods failed" in output
    assert "raise taintedWorkers and update" in output


def test_what_the_reason_says_leads_to_a_new_proof(stack: LiveStack) -> None:
    for tainted, expected in ((2, "held"), (1, "released")):
        stack.configure(taintedWorkers=tainted)
        stack.deploy()
        verdict = stack.outputs()["verdicts"]["constrained"]
        assert (verdict["observed"], verdict["ok"]) == (expected, True)
    assert verdict["platform"]["lws"]["provider"] == "volcano"
    assert "gang" in verdict["platform"]["scheduler"]["plugins"]


def test_verdict_on_pods_that_are_older_than_the_recording_is_about_new_pods(
    make_stack: MakeStack,
) -> None:
    stack = make_stack("gang", name="e2e-older")
    stack.deploy()
    with stack.client() as client:
        before = uids_of_gang(client)
    stack.judge_again("gang", ok=True)
    with stack.client() as client:
        after = uids_of_gang(client)
    assert len(after) == 4
    assert not before & after
    assert stack.outputs()["verdicts"]["gang"]["bindSkewSeconds"] is not None


def uids_of_gang(client: Client) -> set[str]:
    pods = client.list(Pod, namespace="lockstep-gang")
    return {str(pod.metadata.uid) for pod in pods if pod.metadata}


@pytest.mark.usefixtures("without_gang_plugin")
def test_gang_that_happens_to_be_bound_without_the_plugin_is_unproven(stack: LiveStack) -> None:
    stack.configure(scenarios=["constrained", "gang"])
    output = stack.deploy(ok=False)
    assert re.search(
        r"gang: expected placed, observed unproven: the (scheduler|plugin gang) ", output
    ), output
