"""A live stack from one LWS to the next: by Helm alone, every LeaderWorkerSet is lost (lws#880)."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lockstep import crds, kube, toolchain, versions
from tests.e2e.conftest import LiveStack, MakeStack

OLDEST = versions.LWS_SUPPORTED[0]
NAMESPACE = "lockstep-gang"
SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
SETTLED_WITHIN = 120.0


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A gang on the oldest LWS."""
    toolchain.ensure([f"lws-{version}" for version in versions.LWS_SUPPORTED])
    made = make_stack("gang", name="e2e-upgrade", lwsVersion=OLDEST)
    made.deploy()
    return made


def uids(stack: LiveStack, kind: Any) -> dict[str, str]:
    """Who is there, whatever their names."""
    with stack.client() as client:
        found = client.list(kind, namespace=NAMESPACE)
        return {one.metadata.name: one.metadata.uid for one in found}


def properties(definition: Any) -> dict[str, Any]:
    """What a kind looks like."""
    schemas = (one["schema"]["openAPIV3Schema"] for one in definition["spec"]["versions"])
    return {key: value for schema in schemas for key, value in schema["properties"].items()}


def managers(stack: LiveStack) -> list[str]:
    return [Path(process.exe()).name for process in stack.processes("lws-manager")]


def await_new_gang(stack: LiveStack, old: dict[str, str]) -> dict[str, str]:
    """Wait until four other pods run."""
    deadline = time.monotonic() + SETTLED_WITHIN
    while time.monotonic() < deadline:
        with stack.client() as client:
            pods = list(client.list(kube.Pod, namespace=NAMESPACE))
        running = [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Running"]
        found = uids(stack, kube.Pod)
        if len(running) == len(pods) == 4 and not set(found.values()) & set(old.values()):
            return found
        time.sleep(0.5)
    raise AssertionError(f"no new gang after {SETTLED_WITHIN:.0f} s: {uids(stack, kube.Pod)}")


@pytest.mark.parametrize(("old", "new"), list(pairwise(versions.LWS_SUPPORTED)))
def test_upgrade_keeps_the_gang_alive(stack: LiveStack, old: str, new: str) -> None:
    sets, pods = uids(stack, kube.LeaderWorkerSet), uids(stack, kube.Pod)
    assert (len(sets), len(pods)) == (1, 4)
    assert managers(stack) == [f"lws-manager-{old}"]

    stack.configure(lwsVersion=new)
    said = stack.deploy()

    assert uids(stack, kube.LeaderWorkerSet) == sets
    assert managers(stack) == [f"lws-manager-{new}"]
    outputs = stack.outputs()
    assert outputs["versions"]["lws"] == new
    verdict = outputs["verdicts"]["gang"]
    assert (verdict["observed"], verdict["ok"], verdict["bound"]) == ("placed", True, 4)
    if crds.rolls(old, new):  # the new LWS itself replaces each group, and the update says so
        assert "lws#797" in said
        await_new_gang(stack, pods)
    else:
        assert "lws#797" not in said
        assert uids(stack, kube.Pod) == pods
    # In a young cluster the garbage collector learns of PodGroups only after half a minute.
    deadline = time.monotonic() + 90
    while len(uids(stack, kube.PodGroup)) != 1:
        assert time.monotonic() < deadline, "a PodGroup of the old group is left"
        time.sleep(0.5)


def test_upgraded_cluster_has_the_kinds_of_the_new_version(stack: LiveStack) -> None:
    """Helm never updates the definitions in a chart's crds/."""
    chart = toolchain.chart("lws", versions.LWS_SUPPORTED[-1])
    assert chart is not None
    with stack.client() as client:
        for wanted in crds.of_chart(chart):
            found = client.get(crds.Definition, wanted["metadata"]["name"])
            assert crds.is_served(found)
            assert properties(found) == properties(wanted)


def test_second_update_after_an_upgrade_changes_nothing(stack: LiveStack) -> None:
    again = stack.deploy()
    assert "unchanged" in again
    assert not any(word in again for word in (" created", " updated", " replaced", " deleted"))


def test_kind_with_objects_is_not_taken_away(stack: LiveStack) -> None:
    before = uids(stack, kube.LeaderWorkerSet), uids(stack, kube.Pod)
    with stack.client() as client:
        lines = list(crds.remove(client, others=[]))
    assert len(lines) == 1
    assert lines[0].startswith(f"{SETS} stays, as 1 of its objects are there, such as {NAMESPACE}/")
    assert (uids(stack, kube.LeaderWorkerSet), uids(stack, kube.Pod)) == before
