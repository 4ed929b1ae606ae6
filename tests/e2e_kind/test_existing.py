"""A bare cluster that is somebody else's: everything is installed in it, and taken away again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.admissionregistration_v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from lightkube.resources.core_v1 import Namespace, Node
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding
from lightkube.resources.scheduling_v1 import PriorityClass

from lockstep.kube import client as kube
from lockstep.local import kind, kind_config
from tests.e2e_kind.conftest import KindStack

CLUSTER = "lockstep-e2e-theirs"
KINDS: tuple[Any, ...] = (
    Namespace,
    ClusterRole,
    ClusterRoleBinding,
    PriorityClass,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    kube.Definition,
)


@pytest.fixture(scope="module")
def kubeconfig(node_image: str, _own_state: Path) -> Iterator[str]:
    """A cluster that no stack has made."""
    assert _own_state
    config = kind_config.config(CLUSTER, node_image, workers=3)
    yield kind.create(CLUSTER, config)["kubeconfigPath"]
    kind.delete(CLUSTER)


@pytest.fixture(scope="module")
def before(kubeconfig: str) -> dict[str, Any]:
    """What the cluster is like before we come."""
    return snapshot(kubeconfig)


@pytest.fixture(scope="module")
def stack(kubeconfig: str, before: dict[str, Any], _own_state: Path) -> Iterator[KindStack]:
    """Our stack in it."""
    assert before
    made = KindStack("e2e-existing")
    made.write_config("existing")
    made.configure(kubeconfig=kubeconfig, kubeContext=f"kind-{CLUSTER}", scenarios=["gang"])
    made.select()
    yield made
    if made.exists():
        made.down()


def snapshot(kubeconfig: str) -> dict[str, Any]:
    """Whatever belongs to the whole cluster, and what its nodes carry."""
    with kube.client(kubeconfig) as client:
        found: dict[str, Any] = {
            kind.__name__: {str(one.metadata.name) for one in client.list(kind)} for kind in KINDS
        }
        for node in client.list(Node):
            assert node.metadata
            assert node.spec
            found[str(node.metadata.name)] = (node.metadata.labels, node.spec.taints)
    return found


def test_gang_is_placed(stack: KindStack) -> None:
    stack.deploy()
    found = stack.outputs()["verdicts"]["gang"]
    assert (found["observed"], found["ok"], found["bound"]) == ("placed", True, 4)


def test_destroy_leaves_their_cluster_as_it_was(
    stack: KindStack, kubeconfig: str, before: dict[str, Any]
) -> None:
    stack.down()
    assert snapshot(kubeconfig) == before
