"""Somebody else's cluster, with Volcano and LWS in it: used, judged, and left as it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client
from lightkube.models.core_v1 import NodeSpec, NodeStatus, Taint
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace, Node
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding
from lightkube.types import PatchType

from lockstep import paths
from lockstep.kube.client import Definition
from lockstep.local import embedded_cluster
from lockstep.lws import names
from tests.e2e.conftest import LiveStack, MakeStack, changes

FOREIGN = Taint(key="example.com/batch", value="yes", effect="PreferNoSchedule")
ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}
WORKERS = ("first", "second", "third")


@pytest.fixture(scope="module")
def theirs(make_stack: MakeStack) -> LiveStack:
    """A cluster with the platform and three workers of which no stack knows."""
    made = make_stack("gang", name="e2e-theirs", scenarios=[])
    made.deploy()
    with made.client() as client:
        for name in WORKERS:
            client.create(
                Node(
                    metadata=ObjectMeta(name=name, annotations={"kwok.x-k8s.io/node": "fake"}),
                    spec=NodeSpec(taints=[FOREIGN]),
                    status=NodeStatus(allocatable=ROOM, capacity=ROOM),
                )
            )
        _await_workers(client)
        _as_their_own(client)
    return made


def _await_workers(client: Client) -> None:
    """Wait until Kubernetes itself keeps nobody away from them any more."""
    ready: set[str] = set()
    for _, node in client.watch(Node, server_timeout=60):
        free = node.spec is not None and node.spec.taints == [FOREIGN]
        ready = ready | {_name(node)} if free else ready - {_name(node)}
        if len(ready) == len(WORKERS):
            return
    raise AssertionError(f"only {sorted(ready)} of the workers are ready")


def _as_their_own(client: Client) -> None:
    """Have LWS's config name the provider as its administrator would: without our annotation."""
    patch = {"metadata": {"annotations": {names.ORIGINAL_ANNOTATION: None}}}
    client.patch(
        ConfigMap,
        names.CONFIG_MAP,
        patch,
        namespace=names.NAMESPACE,
        patch_type=PatchType.MERGE,
    )


def _config(client: Client) -> str:
    found = client.get(ConfigMap, names.CONFIG_MAP, namespace=names.NAMESPACE)
    return str((found.data or {})[names.CONFIG_KEY])


@pytest.fixture(scope="module")
def before(theirs: LiveStack) -> dict[str, Any]:
    """What the cluster is like before we come."""
    with theirs.client() as client:
        return snapshot(client)


def snapshot(client: Client) -> dict[str, Any]:
    """Whatever a stack could change in a cluster and forget to put back."""
    namespace = names.NAMESPACE
    manager = client.get(Deployment, names.MANAGER, namespace=namespace)
    assert manager.spec
    assert manager.spec.template.metadata
    return {
        "workers": {
            _name(node): (
                node.metadata and node.metadata.labels,
                node.spec and [taint.to_dict() for taint in node.spec.taints or ()],
            )
            for node in client.list(Node)
        },
        "namespaces": {_name(one) for one in client.list(Namespace)},
        "definitions": {str(one["metadata"]["name"]) for one in client.list(Definition)},
        "rights": {
            _name(one)
            for kind in (ClusterRole, ClusterRoleBinding)
            for one in client.list(kind)
            if _name(one).endswith(names.RIGHTS_SUFFIX)
        },
        "config": _config(client),
        "manager": manager.spec.template.metadata.annotations,
    }


def _name(thing: Any) -> str:
    return str(thing.metadata.name)


@pytest.fixture(scope="module")
def kubeconfig(theirs: LiveStack) -> Iterator[Path]:
    """Their kubeconfig, which kubectl uses by default."""
    path = paths.cluster_dir(theirs.cluster_name()) / "kubeconfig"
    scheduler = embedded_cluster.scheduler(theirs.cluster_name())
    assert scheduler
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(path))
        # Volcano has no pods here: it is a process.
        patch.setenv("LOCKSTEP_SCHEDULER_METRICS", scheduler[0])
        yield path


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack, kubeconfig: Path, before: dict[str, Any]) -> LiveStack:
    """Our stack on their cluster."""
    assert before
    context = yaml.safe_load(kubeconfig.read_text())["current-context"]
    made = make_stack(
        "existing",
        kubeContext=context,
        installVolcano=False,
        installLws=False,
        scenarios=["constrained"],
    )
    made.deploy()
    return made


def verdict(stack: LiveStack) -> dict[str, Any]:
    found: dict[str, Any] = stack.outputs()["verdicts"]["constrained"]
    return found


def workers(stack: LiveStack, theirs: LiveStack) -> dict[str, list[str]]:
    """The taints of the workers that our pool has taken."""
    # The label carries the name of the stack's cluster, as others may use the cluster.
    pool = f"{stack.cluster_name()}-constrained"
    with theirs.client() as client:
        found = list(client.list(Node, labels={"lockstep.dev/pool": pool}))
    return {
        _name(node): [taint.key for taint in (node.spec.taints if node.spec else None) or ()]
        for node in found
    }


def test_gang_is_held_on_their_workers(stack: LiveStack, theirs: LiveStack) -> None:
    found = verdict(stack)
    assert (found["observed"], found["ok"], found["bound"]) == ("held", True, 0)
    taken = workers(stack, theirs)
    assert sorted(taken) == sorted(WORKERS)
    assert all(FOREIGN.key in taints for taints in taken.values())
    assert sum("lockstep.dev/blocked" in taints for taints in taken.values()) == 2


def test_versions_of_theirs_are_not_claimed_as_ours(stack: LiveStack) -> None:
    assert stack.outputs()["versions"] == {}


def test_gang_is_released(stack: LiveStack, theirs: LiveStack) -> None:
    stack.configure(taintedWorkers=1)
    stack.deploy()
    found = verdict(stack)
    assert (found["observed"], found["ok"], found["bound"]) == ("released", True, 4)
    assert sum("lockstep.dev/blocked" in taints for taints in workers(stack, theirs).values()) == 1


def test_second_update_changes_nothing(stack: LiveStack) -> None:
    assert changes(stack.deploy()) == []


def test_the_same_cluster_by_another_path_is_not_touched(
    stack: LiveStack, kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "config"
    copy.write_bytes(kubeconfig.read_bytes())
    monkeypatch.setenv("KUBECONFIG", str(copy))
    output = stack.deploy()
    assert "pulumi:providers:kubernetes cluster-provider updated" in output
    assert changes(output) == ["~ 1 updated"]


def test_destroy_leaves_their_cluster_as_it_was(
    stack: LiveStack, theirs: LiveStack, before: dict[str, Any]
) -> None:
    stack.down()
    with theirs.client() as client:
        assert snapshot(client) == before
    assert not paths.cluster_dir(stack.cluster_name()).exists()
    assert len(theirs.processes()) >= 8
