"""LWS without the right to make PodGroups; on a cluster of its own, as all sets there suffer."""

from typing import cast

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.models.rbac_v1 import RoleRef
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding

from lockstep.lws import names
from lockstep.lws import rights as podgroup_rights
from tests.e2e.conftest import LiveStack, MakeStack, changes
from tests.e2e.test_drills import verdict


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    made = make_stack("missing-rbac")
    made.deploy()
    return made


def test_refused_with_the_error_of_lws_and_recovered(stack: LiveStack) -> None:
    found = verdict(stack, "missing-rbac")
    assert (found["observed"], found["ok"], found["bound"]) == ("refused", True, 4)
    assert "podgroups.scheduling.volcano.sh is forbidden" in found["evidence"][0]
    assert "lws-controller-manager" in found["evidence"][0]
    assert found["measures"]["refusedSeconds"] > 3


def test_rights_are_back_and_pulumi_sees_no_drift(stack: LiveStack) -> None:
    with stack.client() as client:
        assert podgroup_rights.are_given(client, "lockstep-missing-rbac")
    assert changes(stack.deploy("--refresh")) == []


def test_a_permission_by_another_role_is_reported(
    stack: LiveStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{stack.cluster_name()}{names.RIGHTS_SUFFIX}"
    monkeypatch.setitem(cast("dict[str, str]", stack.environment), "LOCKSTEP_PATIENCE", "6")
    with stack.client() as client:
        ours = client.get(ClusterRoleBinding, name)
        another = ClusterRoleBinding(
            metadata=ObjectMeta(name="another"),
            roleRef=RoleRef(apiGroup=ours.roleRef.apiGroup, kind=ours.roleRef.kind, name=name),
            subjects=ours.subjects,
        )
        client.create(another)
        output = stack.judge_again("missing-rbac", ok=False)
        assert client.get(ClusterRoleBinding, name).subjects == ours.subjects
    assert "missing-rbac: expected refused, observed" in output
    assert "does LWS have the permission by another role?" in output


def test_destroy_leaves_nothing(stack: LiveStack) -> None:
    stack.pulumi("destroy", "--yes", "--skip-preview")
    stack.assert_nothing_left()
