"""A live stack from one LWS to the next: by Helm alone, every LeaderWorkerSet is lost (lws#880)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lightkube import Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace

import toolchain
from lockstep import versions
from lockstep.kube import client as kube
from lockstep.kube import crds
from lockstep.lws import upgrade as lws_upgrade
from lockstep.wait import wait_until
from tests.e2e.conftest import LiveStack, MakeStack, changes

OLDEST, NEWEST = versions.LWS_SUPPORTED[0], versions.LWS_SUPPORTED[-1]
NAMESPACE = "bystander"


@pytest.fixture(scope="module", autouse=True)
def _every_version() -> None:
    toolchain.ensure([f"lws-{version}" for version in versions.LWS_SUPPORTED])


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A gang on the oldest LWS, and a set that is no scenario."""
    made = make_stack("gang", name="e2e-upgrade", lwsVersion=OLDEST)
    made.deploy()
    add_bystander(made)
    return made


def add_bystander(stack: LiveStack) -> None:
    """Create a set of one pod beside the scenario's, whose pods are recreated for a new proof."""
    with stack.client() as client:
        client.create(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
        found: Any = client.get(kube.LeaderWorkerSet, "gang-lws", namespace="lockstep-gang")
        spec = found["spec"] | {"replicas": 1}
        spec["leaderWorkerTemplate"]["size"] = 2
        metadata = ObjectMeta(name="bystander", namespace=NAMESPACE)
        client.create(kube.LeaderWorkerSet(metadata=metadata, spec=spec))
        wait_until("the pods", lambda: len(uids(client, kube.Pod)) == 2, seconds=60)
        wait_until("the PodGroup", lambda: len(uids(client, kube.PodGroup)) == 1, seconds=60)


@dataclass(frozen=True)
class Live:
    """Who is there, by uid, and under which LWS."""

    sets: dict[str, str]
    pods: dict[str, str]
    groups: dict[str, str]
    managers: list[str]
    """Programs that run."""
    installed: str | None
    """What Helm says."""

    @classmethod
    def of(cls, stack: LiveStack) -> Live:
        running = [Path(process.exe()).name for process in stack.processes("lws-manager")]
        with stack.client() as client:
            return cls(
                uids(client, kube.LeaderWorkerSet),
                uids(client, kube.Pod),
                uids(client, kube.PodGroup),
                running,
                lws_upgrade.installed_version(client),
            )


def uids(client: Client, kind: Any) -> dict[str, str]:
    found = client.list(kind, namespace=NAMESPACE)
    return {one.metadata.name: one.metadata.uid for one in found}


def properties(definition: Any) -> dict[str, Any]:
    """What a kind looks like."""
    schemas = (one["schema"]["openAPIV3Schema"] for one in definition["spec"]["versions"])
    return {key: value for schema in schemas for key, value in schema["properties"].items()}


def test_upgrade_that_would_replace_every_pod_is_refused(stack: LiveStack) -> None:
    """LWS 0.8.0 takes whatever 0.7.0 made for changed (lws#797)."""
    assert_refuses(stack, "0.8.0")


def test_upgrade_keeps_the_gang_alive(stack: LiveStack) -> None:
    assert_keeps(stack, NEWEST)


def test_version_between_is_refused_also_on_the_way_back(stack: LiveStack) -> None:
    """What matters is which LWS made the set."""
    assert_refuses(stack, "0.8.0")
    stack.configure(lwsVersion=NEWEST)
    stack.deploy()


def test_sets_of_the_version_between_live_on(make_stack: MakeStack) -> None:
    stack = make_stack("gang", name="e2e-between", lwsVersion="0.8.0")
    stack.deploy()
    add_bystander(stack)
    assert_keeps(stack, NEWEST)
    assert_keeps(stack, "0.8.0")
    assert_refuses(stack, OLDEST)


def assert_refuses(stack: LiveStack, version: str) -> None:
    """Try another version, and find that nothing changed; nor paves a try the way for the next."""
    before = Live.of(stack)
    assert [len(one) for one in (before.sets, before.pods, before.groups)] == [1, 2, 1]
    stack.configure(lwsVersion=version)
    for _ in range(2):
        said = stack.deploy(ok=False)
        assert f"LWS {version} would restart every pod of sets that another version" in said
        assert f"set lockstep:lwsVersion to {NEWEST}, which keeps their pods" in said
        assert Live.of(stack) == before


def assert_keeps(stack: LiveStack, version: str) -> None:
    """Go to another version, and find everybody still there."""
    before = Live.of(stack)
    stack.configure(lwsVersion=version)
    stack.deploy()
    after = Live.of(stack)
    assert after == dataclasses.replace(
        before, managers=[f"lws-manager-{version}"], installed=version
    )
    outputs = stack.outputs()
    assert outputs["versions"]["lws"] == version
    verdict = outputs["verdicts"]["gang"]
    assert (verdict["observed"], verdict["ok"], verdict["bound"]) == ("placed", True, 4)


def test_upgraded_cluster_has_the_kinds_of_the_new_version(stack: LiveStack) -> None:
    """Helm never updates the definitions in a chart's crds/."""
    chart = toolchain.charts()[f"lws-{NEWEST}"]
    with stack.client() as client:
        for wanted in crds.of_chart(chart):
            name = wanted["metadata"]["name"]
            assert crds.is_served(client, name)
            assert properties(client.get(kube.Definition, name)) == properties(wanted)


def test_second_update_after_an_upgrade_changes_nothing(stack: LiveStack) -> None:
    assert changes(stack.deploy()) == []


def test_kind_with_objects_is_not_taken_away(stack: LiveStack) -> None:
    before = Live.of(stack)
    with stack.client() as client:
        lines = list(crds.remove(client, others=[]))
    assert len(lines) == 1
    assert lines[0].startswith(f"{crds.SETS} is kept, as 2 objects of it exist, such as ")
    assert Live.of(stack) == before
