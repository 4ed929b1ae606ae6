"""The embedded cluster outlives its processes: what is killed is back, with all that was there."""

from typing import Any

import psutil
import pytest
from lightkube.resources.core_v1 import Namespace, Pod

from lockstep import paths, processes
from lockstep.local import embedded_cluster, supervise, supervisor
from lockstep.wait import wait_until
from tests.e2e.conftest import LiveStack, MakeStack, changes
from tests.faults.plan import PROGRAMS, SUPERVISED
from tests.faults.victims import Victims, kill
from tests.sabotage.api import Api

BACK_WITHIN = 10.0


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A gang that is placed."""
    made = make_stack("gang", name="e2e-durable")
    made.deploy()
    return made


def victims(stack: LiveStack) -> Victims:
    name = stack.cluster_name()
    return Victims(name, paths.cluster_dir(name), stack.name)


def pids(stack: LiveStack) -> dict[str, int | None]:
    """The process of every program."""
    return {name: victims(stack).program(name) for name in PROGRAMS}


def state(stack: LiveStack) -> dict[str, Any]:
    """The uids of the cluster and of all its pods, where each pod is bound, and the verdict."""
    with stack.client() as client:
        system = client.get(Namespace, "kube-system")
        pods = list(client.list(Pod, namespace="*"))
    return {
        "cluster": system.metadata and system.metadata.uid,
        "pods": {pod.metadata.uid: pod.spec.nodeName for pod in pods if pod.metadata and pod.spec},
        "verdicts": stack.outputs()["verdicts"],
    }


@pytest.mark.parametrize("name", SUPERVISED)
def test_killed_process_is_back_with_all_that_was_in_the_cluster(
    stack: LiveStack, name: str
) -> None:
    before, all_before = state(stack), pids(stack)
    api = Api(embedded_cluster.load(stack.cluster_name()))
    victim = victims(stack).find(name)
    assert len(victim) == 1
    kill(victim)
    wait_until(name, lambda: victims(stack).is_back(name, victim, api), BACK_WITHIN, pause=0.02)
    api.close()
    assert state(stack) == before
    assert {one: pid for one, pid in pids(stack).items() if one != name} == {
        one: pid for one, pid in all_before.items() if one != name
    }
    assert all(before["pods"].values())


def test_supervisor_and_standby_that_are_killed_are_replaced_by_the_next_up(
    stack: LiveStack,
) -> None:
    before, all_before = state(stack), pids(stack)
    folder = paths.cluster_dir(stack.cluster_name())
    supervising = psutil.Process(supervisor.holder(folder))
    standby = psutil.Process(victims(stack).program(supervise.STANDBY))
    for process in (supervising, standby):  # neither may replace the other meanwhile
        process.suspend()
    processes.end([supervising, standby], "the test")
    assert supervisor.holder(folder) is None
    output = stack.deploy()
    assert f"the supervisor of the embedded cluster {stack.cluster_name()} has ended" in output
    assert pids(stack) == all_before
    assert state(stack) == before
    assert changes(stack.deploy()) == []


def test_up_after_a_reboot_starts_the_same_cluster(stack: LiveStack) -> None:
    before = state(stack)
    processes.end_all(paths.cluster_dir(stack.cluster_name()))
    output = stack.deploy()
    warning = f"the embedded cluster {stack.cluster_name()} does not run; it will be started with"
    assert warning in output
    assert state(stack) == before
    assert changes(stack.deploy()) == []
    assert state(stack) == before
