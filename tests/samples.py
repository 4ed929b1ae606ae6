"""Recordings as the recorder makes them, and receipts built from them, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lockstep.judge.model import Expectation, Verdict, Workload
from lockstep.report import receipt
from lockstep.report.receipt import Receipt
from tests.receipt_story import (
    REQUESTS,
    Story,
    bind,
    gang_bound,
    gang_created,
    gang_ends,
    members,
    workers,
)

UNSCHEDULABLE = (
    "4/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; "
    "Pending: 2 Schedulable, 2 Unschedulable. Origin reason is pod: 0/3 nodes are unavailable: "
    "1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
)
CONTEXT: dict[str, Any] = {
    "createdAt": "2026-03-02T09:15:04.000Z",
    "versions": {"kubernetes": "1.34.4", "volcano": "1.14.1", "lws": "0.8.0", "lockstep": "0.1.0"},
    "cluster": {"name": "lockstep-demo", "provider": "kwok"},
    "config": {"gangScheduling": True, "groupSize": 4, "groups": 1, "workersPerScenario": 3},
}


def placed() -> Receipt:
    story = Story("gang", "2026-03-02T09:14:00.120Z")
    workers(story)
    story.pod_group(1.214, "gang-pods-0", "Pending")
    for index, (name, role) in enumerate(members("gang-pods-0")):
        story.pod(1.198 + index * 0.019, name, group="gang-pods-0", role=role, change="ADDED")
    story.pod_group(1.702, "gang-pods-0", "Inqueue")
    bind(story, "gang", 2.381, [0.0, 0.006, 0.013, 0.021])
    story.pod_group(2.944, "gang-pods-0", "Running")
    story.event(
        2.43,
        "Scheduled",
        "Pod/gang-pods-0",
        "Successfully assigned lockstep-gang/gang-pods-0 to gang-worker-0",
    )
    story.wait(3.12)
    return _receipt(
        story,
        "placed",
        bound=4,
        skew=0.021,
        evidence=[
            "4 of 4 pods bound within 21 ms and Running",
            "PodGroup gang-pods-0-6c67cc9968: minMember 4, minResources cpu 8, memory 16Gi",
        ],
    )


def held() -> Receipt:
    story = Story("constrained", "2026-03-02T09:14:08.004Z")
    workers(story)
    for number in (0, 1):
        story.node(0.71 + number / 100, number, blocked=True)
    for index, (name, role) in enumerate(members("constrained-pods-0")):
        story.pod(1.55 + index * 0.02, name, group="constrained-pods-0", role=role, change="ADDED")
    story.pod_group(1.561, "constrained-pods-0", "Pending")
    story.pod_group(2.02, "constrained-pods-0", "Inqueue")
    for cycle in range(5):
        story.event(
            2.031 + cycle,
            "Unschedulable",
            "PodGroup/constrained-pods-0-6c67cc9968",
            UNSCHEDULABLE,
            cycle + 1,
        )
    story.wait(6.7)
    return _receipt(
        story,
        "held",
        bound=0,
        skew=None,
        evidence=[
            "0 of 4 pods bound over 5 scheduling cycles",
            f"Unschedulable: {UNSCHEDULABLE}",
        ],
    )


def released(quiet: float = 0.0) -> Receipt:
    """Free one worker; `quiet` is a time before it in which nothing happens."""
    story = Story("constrained", "2026-03-02T09:14:22.500Z")
    workers(story, blocked=(0, 1))
    for name, role in members("constrained-pods-0"):
        story.pod(0.005, name, group="constrained-pods-0", role=role, listed=True)
    story.pod_group(0.006, "constrained-pods-0", "Inqueue", listed=True)
    story.node(1.402 + quiet, 1)
    bind(story, "constrained", 1.981 + quiet, [0.0, 0.004, 0.011, 0.018])
    story.pod_group(2.7 + quiet, "constrained-pods-0", "Running")
    story.wait(2.9 + quiet)
    return _receipt(
        story,
        "released",
        bound=4,
        skew=0.018,
        release_latency_seconds=0.597,
        evidence=[
            "4 of 4 pods bound within 18 ms, 597 ms after constrained-worker-1 was freed",
        ],
    )


def partial() -> Receipt:
    story = Story("no-gang", "2026-03-02T09:14:31.900Z")
    workers(story)
    for number in (0, 1):
        story.node(0.64 + number / 100, number, blocked=True)
    pods = [f"no-gang-pods-6686c8476b-{suffix}" for suffix in ("28n8p", "4jmdw", "9vnwv", "fq92q")]
    for index, name in enumerate(pods):
        story.pod(1.31 + index * 0.011, name, change="ADDED")
    for index, name in enumerate(pods[:2]):
        node = story.worker(2)
        story.pod(1.338 + index * 0.015, name, node=node)
        story.pod(1.71 + index * 0.02, name, node=node, phase="Running")
    for name in pods[2:]:
        story.event(
            1.37,
            "FailedScheduling",
            f"Pod/{name}",
            "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, "
            "2 node(s) had untolerated taint(s). no new claims to deallocate",
        )
    story.wait(6.4)
    return _receipt(
        story,
        "partial",
        bound=2,
        skew=None,
        gang=False,
        evidence=[
            "2 of 4 pods bound, 2 pending for 5.01 s, no PodGroup",
        ],
    )


def broken() -> Receipt:
    """A gang of which one pod never got a node."""
    story = Story("gang", "2026-03-02T09:14:00.120Z")
    workers(story)
    for index, (name, role) in enumerate(members("gang-pods-0")):
        story.pod(1.198 + index * 0.019, name, group="gang-pods-0", role=role, change="ADDED")
    bind(story, "gang", 2.0, [0.0, 0.01, 0.02])
    story.wait(8.0)
    return _receipt(
        story,
        "placed",
        bound=3,
        skew=0.02,
        observed="partial",
        reason="gang: expected placed, observed partial: "
        "gang-pods-0 was partly bound from 2.000 s to 8.000 s: gang-pods-0-3 waited",
        evidence=["3 of 4 pods bound for 6.00 s"],
    )


def crowd(gangs: int = 100) -> Receipt:
    """Many gangs that get their nodes one after another."""
    story = Story("contention", "2026-03-02T09:20:00.000Z")
    workers(story)
    for number in range(gangs):
        group = f"contention-pods-{number}"
        for index, (name, role) in enumerate(members(group)):
            told = {"group": group, "role": role}
            story.pod(0.5 + number * 0.09 + index * 0.01, name, change="ADDED", **told)
            bound = 1.2 + number * 0.11 + index * 0.006
            story.pod(bound, name, node=story.worker(index % 3), **told)
            story.pod(bound + 0.4, name, node=story.worker(index % 3), phase="Running", **told)
    story.recording.observations.sort(key=lambda seen: seen.at)
    story.wait(1.2 + gangs * 0.11 + 1)
    return _receipt(story, "placed", bound=4 * gangs, skew=0.018, groups=gangs, evidence=[])


def serialized() -> Receipt:
    """Three gangs with room for one: each runs, ends, and is recreated."""
    story = Story("contention", "2026-03-02T09:20:00.000Z")
    workers(story)
    for one in range(3):
        gang_created(story, f"contention-lws-{one}", 0, 0.4 + one * 0.05)
    for turn in range(4):
        number, start = turn % 3, 1.0 + turn * 1.6
        group, life = f"contention-lws-{number}", turn // 3
        gang_bound(story, group, life, start)
        if turn < 3:
            told = f"done: {group} has worked for 1.0 s and ends"
            story.event(start + 1.1, "LockstepDrill", "LeaderWorkerSet/contention-lws", told)
            gang_ends(story, group, life, start + 1.12)
            gang_created(story, group, life + 1, start + 1.4)
    story.event(6.9, "LockstepDrill", "LeaderWorkerSet/contention-lws", "drill over")
    story.recording.observations.sort(key=lambda seen: seen.at)
    story.wait(7.0)
    measures = {"gangsCompleted": 3, "podSecondsWasted": 0.12, "longestWaitSeconds": 3.75}
    return _receipt(
        story, "serialized", bound=4, skew=0.018, groups=3, measures=measures,
        evidence=["3 gangs completed, at most 1 at once"],
    )  # fmt: skip


def deadlocked() -> Receipt:
    """The same three gangs on the default scheduler: each has a part."""
    story = Story("contention-control", "2026-03-02T09:21:00.000Z")
    workers(story)
    for one in range(3):
        group = f"contention-control-lws-{one}"
        gang_created(story, group, 0, 0.4 + one * 0.05)
        gang_bound(story, group, 0, 0.5 + one * 0.08, 2)
    story.recording.observations.sort(key=lambda seen: seen.at)
    story.wait(4.2)
    measures = {"gangsCompleted": 0, "podSecondsWasted": 21.7, "longestWaitSeconds": 3.8}
    return _receipt(
        story, "deadlocked", bound=6, skew=None, groups=3, gang=False, measures=measures,
        evidence=["3 gangs hold 6 places and none of them is complete"],
    )  # fmt: skip


def real() -> list[Receipt]:
    """The demo's receipts of a real run, on the embedded cluster."""
    return receipt.load(Path(__file__).with_name("fixtures") / "receipts")


def demo() -> list[Receipt]:
    """The walk of the demo."""
    return [placed(), held(), released(), partial()]


def _receipt(
    story: Story,
    expected: str,
    *,
    bound: int,
    skew: float | None,
    evidence: list[str],
    gang: bool = True,
    groups: int = 1,
    observed: str | None = None,
    reason: str = "",
    **more: Any,
) -> Receipt:
    expectation = Expectation(
        scenario=story.scenario,
        verdict=expected,
        namespace=f"lockstep-{story.scenario}",
        workload=Workload("LeaderWorkerSet" if gang else "Deployment", f"{story.scenario}-pods"),
        size=4,
        groups=groups,
        requests=REQUESTS,
        gang=gang,
    )
    verdict = Verdict(
        expected=expected,
        observed=observed or expected,
        ok=observed is None,
        reason=reason,
        bound=bound,
        size=4 * groups,
        bind_skew_seconds=skew,
        evidence=evidence,
        **more,
    )
    step = "constrained-released" if expected == "released" else story.scenario
    return receipt.build(story.recording, expectation, verdict, {**CONTEXT, "step": step})


def changed(
    one: Receipt,
    *,
    verdict: Mapping[str, Any] | None = None,
    expectation: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Receipt:
    """The same receipt with other values."""
    return replace(
        one,
        verdict=replace(one.verdict, **(verdict or {})),
        expectation=replace(one.expectation, **(expectation or {})),
        **fields,
    )
