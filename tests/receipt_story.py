"""Recordings of a cluster told step by step, from which sample receipts are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockstep.recording.model import Change, Header, Kind, Observation, Recording

REQUESTS = {"cpu": "2", "memory": "4Gi"}


@dataclass
class Story:
    """A recording in the making: each method tells one thing that happened."""

    scenario: str
    started: str
    recording: Recording = field(init=False)

    def __post_init__(self) -> None:
        header = Header(self.scenario, (f"lockstep-{self.scenario}",), self.scenario, self.started)
        self.recording = Recording(header)

    def tell(self, at: float, kind: Kind, name: str, facts: Mapping[str, Any], **more: Any) -> None:
        change: Change = more.pop("change", "MODIFIED")
        version = str(len(self.recording.observations) + 1)
        uid = more.pop("uid", f"uid-{self.scenario}-{kind}-{name}")
        namespace = "" if kind == "node" else f"lockstep-{self.scenario}"
        self.recording.add(
            Observation(at, kind, change, namespace, name, uid, version, facts, **more)
        )

    def node(self, at: float, number: int, *, blocked: bool = False, listed: bool = False) -> None:
        taint = {"key": "lockstep.dev/blocked", "value": self.scenario, "effect": "NoSchedule"}
        facts = {
            "taints": [taint] if blocked else [],
            "unschedulable": False,
            "ready": True,
            "cpu": "4",
            "memory": "8Gi",
        }
        self.tell(at, "node", self.worker(number), facts, listed=listed)

    def worker(self, number: int) -> str:
        return f"{self.scenario}-worker-{number}"

    def pod(self, at: float, name: str, **facts: Any) -> None:
        more = {key: facts.pop(key) for key in ("listed", "change", "uid") if key in facts}
        known = {
            "group": None,
            "role": None,
            "node": None,
            "phase": "Pending",
            "ready": False,
            "deleting": False,
            "requests": REQUESTS,
        }
        self.tell(at, "pod", name, {**known, **facts}, **more)

    def pod_group(self, at: float, group: str, phase: str, *, listed: bool = False) -> None:
        facts = {
            "group": group,
            "minMember": 4,
            "minResources": {"cpu": "8", "memory": "16Gi"},
            "phase": phase,
        }
        self.tell(at, "podgroup", f"{group}-6c67cc9968", facts, listed=listed)

    def event(self, at: float, reason: str, about: str, message: str, count: int = 1) -> None:
        facts = {"reason": reason, "message": message, "object": about, "count": count}
        self.tell(at, "event", f"{about}.{reason}".lower(), facts)

    def wait(self, until: float) -> None:
        self.recording.end = until


def workers(story: Story, blocked: Sequence[int] = (), *, listed: bool = True) -> None:
    for number in range(3):
        story.node(0.004, number, blocked=number in blocked, listed=listed)


def members(group: str) -> list[tuple[str, str]]:
    """Pods of a group with their roles, as LWS names them."""
    return [(group, "leader")] + [(f"{group}-{n}", "worker") for n in range(1, 4)]


def gang_created(story: Story, group: str, life: int, at: float) -> None:
    for index, (name, role) in enumerate(members(group)):
        facts = {"group": group, "role": role, "uid": f"{name}-{life}"}
        story.pod(at + index * 0.01, name, change="ADDED", **facts)


def gang_bound(story: Story, group: str, life: int, at: float, part: int = 4) -> None:
    for index, (name, role) in enumerate(members(group)[:part]):
        facts = {"group": group, "role": role, "uid": f"{name}-{life}"}
        story.pod(at + index * 0.006, name, node=story.worker(index % 3), **facts)
        running = {**facts, "node": story.worker(index % 3), "phase": "Running"}
        story.pod(at + 0.1 + index * 0.01, name, **running)


def gang_ends(story: Story, group: str, life: int, at: float) -> None:
    for index, (name, role) in enumerate(members(group)):
        facts = {"group": group, "role": role, "uid": f"{name}-{life}", "deleting": True}
        story.pod(at + index * 0.01, name, node=story.worker(index % 3), **facts)


def bind(story: Story, scenario: str, first: float, delays: Sequence[float]) -> None:
    group = f"{scenario}-pods-0"
    bound = list(zip(members(group), delays, strict=False))
    for running in (False, True):
        for index, ((name, role), delay) in enumerate(bound):
            story.pod(
                first + delay + (0.35 + index * 0.03 if running else 0),
                name,
                group=group,
                role=role,
                node=story.worker(1 if index < 2 else 2),
                phase="Running" if running else "Pending",
            )
