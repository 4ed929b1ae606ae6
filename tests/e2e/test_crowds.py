"""Gangs that compete, on one cluster: each scenario as its stack has it, then broken on purpose."""

import re
from typing import Any

import pytest
import yaml
from lightkube.generic_resource import create_global_resource
from lightkube.resources.core_v1 import Pod
from lightkube.types import PatchType

from lockstep import paths
from lockstep.drills.actions import SetScale
from lockstep.kube import client as kube
from tests.e2e.conftest import PROJECT_DIR, LiveStack, MakeStack, changes

Queue = create_global_resource("scheduling.volcano.sh", "v1beta1", "Queue", "queues")
DEFAULTS: dict[str, Any] = {
    "gangScheduling": True,
    "workersPerScenario": 3,
    "groupSize": 4,
    "groups": 1,
}


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """The platform, on which one scenario follows the other."""
    made = make_stack("contention", name="e2e-crowds", scenarios=[])
    made.deploy()
    return made


def become(stack: LiveStack, base: str, **changes: Any) -> None:
    """Take on the config of another stack."""
    text = (PROJECT_DIR / "stacks" / f"Pulumi.{base}.yaml").read_text()
    config: dict[str, Any] = yaml.safe_load(text)["config"]
    own = {key.removeprefix("lockstep:"): value for key, value in config.items()}
    stack.configure(**{**DEFAULTS, **own, **changes})


def verdict(stack: LiveStack, scenario: str) -> dict[str, Any]:
    found: dict[str, Any] = stack.outputs()["verdicts"][scenario]
    assert found["ok"], found["reason"]
    return found


def bound_pods(stack: LiveStack, scenario: str) -> set[str]:
    with stack.client() as client:
        pods = list(client.list(Pod, namespace=f"lockstep-{scenario}"))
    return {str(p.metadata.name) for p in pods if p.metadata and p.spec and p.spec.nodeName}


def assert_unchanged(stack: LiveStack) -> None:
    """What a drill does to a workload is no change of the stack."""
    assert changes(stack.deploy("--refresh")) == []


def test_complete_gangs_take_turns(stack: LiveStack) -> None:
    become(stack, "contention")
    stack.deploy()
    found = verdict(stack, "contention")
    measures = found["measures"]
    assert found["observed"] == "serialized"
    assert measures["gangsCompleted"] >= 4
    assert measures["gangsAtOnce"] == 1
    assert measures["podSecondsWasted"] < measures["podSecondsUseful"] / 4
    assert found["bindSkewSeconds"] < 2
    for group in range(4):
        assert any(f"contention-lws-{group} was complete" in line for line in found["evidence"])
    assert_unchanged(stack)


def test_without_gangs_no_gang_has_a_turn(stack: LiveStack) -> None:
    become(stack, "contention", gangScheduling=False)
    output = stack.deploy(ok=False)
    assert "contention: expected serialized, observed partial" in output
    assert "minMember 1" in output or "is gang scheduling on in LWS?" in output


def test_the_default_scheduler_lets_gangs_block_each_other(stack: LiveStack) -> None:
    become(stack, "contention-control")
    stack.deploy()
    found = verdict(stack, "contention-control")
    assert found["observed"] == "deadlocked"
    assert found["measures"]["gangsCompleted"] == 0
    assert found["measures"]["podSecondsWasted"] > 30
    assert found["podGroup"] is None
    assert len(bound_pods(stack, "contention-control")) == 4


def test_a_gang_that_gets_through_ends_the_deadlock(stack: LiveStack) -> None:
    with stack.client() as client:
        client.patch(
            SetScale,
            "contention-control-lws",
            {"spec": {"replicas": 1}},
            namespace="lockstep-contention-control",
            patch_type=PatchType.MERGE,
        )
    output = stack.judge_again("contention-control", ok=False)
    assert "contention-control: expected deadlocked, observed progressed" in output
    assert "contention-control-lws-0 was completely bound" in output


def test_a_queue_keeps_its_cap(stack: LiveStack) -> None:
    become(stack, "queue-cap")
    stack.deploy()
    found = verdict(stack, "queue-cap")
    assert found["observed"] == "capped"
    assert found["measures"]["gangsAtOnce"] == 2
    assert any("queue resource quota insufficient" in line for line in found["evidence"])
    with stack.client() as client:
        groups = list(client.list(kube.PodGroup, namespace="lockstep-queue-cap"))
    assert {group["spec"]["queue"] for group in groups} == {"lockstep-queue-cap"}
    assert_unchanged(stack)


def test_a_queue_that_was_widened_is_found_out(stack: LiveStack) -> None:
    with stack.client() as client:
        wide = {"spec": {"capability": {"cpu": "64", "memory": "128Gi"}}}
        client.patch(Queue, "lockstep-queue-cap", wide, patch_type=PatchType.MERGE)
    output = stack.judge_again("queue-cap", ok=False)
    assert "queue-cap: expected capped, observed exceeded: 6 pods held a place at once" in output


def test_a_gang_of_higher_priority_gets_all_places(stack: LiveStack) -> None:
    become(stack, "preemption")
    stack.deploy()
    found = verdict(stack, "preemption")
    assert found["observed"] == "preempted-whole"
    assert found["measures"]["victimPartlyBoundSeconds"] < 2
    assert "PodGroup preemption-rival-lws-0" in found["evidence"][0]
    assert found["evidence"][0].endswith("of lockstep-preemption-high")
    assert any(line.startswith("Volcano evicted ") for line in found["evidence"])
    assert bound_pods(stack, "preemption") == {
        f"preemption-rival-lws-0{worker}" for worker in ("", "-1", "-2", "-3")
    }
    assert_unchanged(stack)


def test_a_scheduler_without_preemption_lets_it_wait(stack: LiveStack) -> None:
    folder = paths.cluster_dir(stack.cluster_name()) / "operators" / "volcano" / "conf"
    conf = folder / "volcano-scheduler.conf"
    actions = conf.read_text()
    without, count = re.subn(r"\w*preempt, ", "", actions)
    assert count == 1
    conf.write_text(without)  # it reads its configuration again
    output = stack.judge_again("preemption", ok=False)
    assert "preemption: expected preempted-whole, observed waits" in output
    assert "the running gang is untouched" in output
