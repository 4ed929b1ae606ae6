"""Gang scheduling broken on purpose: `up` fails, with a reason that names what is broken."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from lightkube import Client
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from lockstep import paths
from lockstep.kube import client as kube
from tests.e2e.conftest import LiveStack, MakeStack

PATIENCE = "20"  # seconds; enough for what will never come, also on a busy machine


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A gang that is placed as it should be, before anything is broken."""
    made = make_stack("gang", name="e2e-broken")
    made.deploy()
    return made


@pytest.fixture
def impatient(stack: LiveStack, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveStack]:
    """The stack with a judge that does not wait for long; repaired and complete after the test."""
    monkeypatch.setitem(stack.environment, "LOCKSTEP_PATIENCE", PATIENCE)
    yield stack
    monkeypatch.undo()
    stack.await_collected("lockstep-gang")
    stack.configure(groupSize=4, gangScheduling=True)
    stack.deploy()
    assert stack.outputs()["verdicts"]["gang"]["observed"] == "placed"


def test_gang_scheduling_off(impatient: LiveStack) -> None:
    impatient.configure(gangScheduling=False, groupSize=3)
    output = impatient.deploy(ok=False)
    # Which PodGroup is wrong or missing, and whether all pods are bound without one, depends on
    # what Volcano did with the pods by then; on a busy machine the last bind may come too late.
    wrong = r"gang: expected placed, observed (unmanaged|partial|torn): .*(PodGroup|minMember)"
    assert re.search(wrong, output), output


def test_no_right_to_make_pod_groups(impatient: LiveStack) -> None:
    with impatient.client() as client:
        binding = _rights(client)
        assert binding.metadata
        client.delete(ClusterRoleBinding, str(binding.metadata.name))
        try:
            impatient.configure(groupSize=3)
            output = impatient.deploy(ok=False)
        finally:
            binding.metadata.resourceVersion = binding.metadata.uid = None
            client.create(binding)
    assert "gang: expected placed, observed incomplete: 1 of 3 pods exist, 0 bound" in output
    assert "was not created (does LWS have permission to create PodGroups?)" in output


def _rights(client: Client) -> ClusterRoleBinding:
    """What lets LWS make PodGroups."""
    found = [
        binding
        for binding in client.list(ClusterRoleBinding)
        if binding.metadata and str(binding.metadata.name).endswith("-lws-podgroups")
    ]
    return found[0]


def test_volcano_stopped(impatient: LiveStack) -> None:
    (scheduler,) = impatient.processes("vc-scheduler")
    scheduler.suspend()
    try:
        impatient.configure(groupSize=3)
        output = impatient.deploy(ok=False)
    finally:
        scheduler.resume()
    assert "gang: expected placed, observed ignored: 0 of 3 pods bound" in output
    assert "no scheduler has handled them (is volcano running?)" in output


def test_one_pod_with_another_scheduler(stack: LiveStack) -> None:
    """Changed behind the program's back, so that `verify` has to find it."""
    assert verify(stack) == (0, "placed")
    name, namespace = "gang-lws", "lockstep-gang"
    with stack.client() as client:
        found = client.get(kube.LeaderWorkerSet, name, namespace=namespace)
        template = found["spec"]["leaderWorkerTemplate"]
        leader = template.get("leaderTemplate") or template["workerTemplate"]
        other = {**leader, "spec": {**leader["spec"], "schedulerName": "default-scheduler"}}
        patch = {"spec": {"leaderWorkerTemplate": {"leaderTemplate": other}}}
        client.patch(
            kube.LeaderWorkerSet, name, patch, namespace=namespace, patch_type=PatchType.MERGE
        )
    code, state = verify(stack, "15s")
    # It is chance whether the leader is bound before `verify` begins to watch.
    assert code == 1
    assert state in ("unmanaged", "torn")


def verify(stack: LiveStack, time: str = "1s") -> tuple[int, str]:
    """Run `lockstep verify` on the stack's cluster: its exit code and the gang's state."""
    kubeconfig = paths.cluster_dir(stack.cluster_name()) / "kubeconfig"
    words = ["verify", "--kubeconfig", str(kubeconfig), "-n", "lockstep-gang"]
    done = subprocess.run(
        [sys.executable, "-m", "lockstep", *words, "--for", time, "--json"],
        cwd=paths.project_dir(),
        capture_output=True,
        text=True,
        check=False,
    )
    (gang,) = json.loads(done.stdout)["gangs"]
    return done.returncode, gang["state"]
