"""From a recording to lives: what became of each pod, gang, PodGroup and worker, and when.

Observations are sorted first and repeats left out, so that neither the order in which two watches
delivered nor a watch that told something twice changes a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lockstep.judge.gangs import Gang
from lockstep.judge.lives import Interval, Life, Pod
from lockstep.judge.model import Expectation
from lockstep.recording.model import Kind, Observation, Recording

__all__ = ["Gang", "History", "Interval", "Life", "Pod"]


@dataclass(frozen=True)
class History:
    """A recording, told by object."""

    recording: Recording
    lives: dict[Kind, list[Life]] = field(default_factory=dict)

    @classmethod
    def of(cls, recording: Recording, namespace: str) -> History:
        """Tell what happened in one namespace, and on the workers."""
        stories: dict[tuple[Kind, str], list[Observation]] = {}
        done: set[tuple[str, str, str]] = set()
        for seen in sorted(recording.observations, key=_order):
            told = (seen.uid, seen.version, seen.change)
            if told in done or (seen.kind != "node" and seen.namespace != namespace):
                continue
            done.add(told)
            stories.setdefault((seen.kind, seen.uid), []).append(seen)
        lives: dict[Kind, list[Life]] = {}
        for (kind, _), story in stories.items():
            make = Pod if kind == "pod" else Life
            lives.setdefault(kind, []).append(make(tuple(story)))
        return cls(recording, lives)

    @property
    def end(self) -> float:
        """Until when it is known."""
        return self.recording.end

    @cached_property
    def pods(self) -> list[Pod]:
        """Every pod that was ever seen."""
        return [life for life in self.lives.get("pod", ()) if isinstance(life, Pod)]

    @cached_property
    def alive(self) -> frozenset[str]:
        """The uids of pods that are there to stay."""
        return frozenset(pod.first.uid for pod in self.pods if pod.alive)

    def living(self, kind: Kind) -> list[Life]:
        """Objects of a kind that are there."""
        return [life for life in self.lives.get(kind, ()) if not life.gone]

    @cached_property
    def cuts(self) -> list[Interval]:
        """Stretches in which the pods were not followed, so that they have no times."""
        found: list[Interval] = []
        since: float | None = None
        for status in sorted(self.recording.watch_log, key=lambda status: status.at):
            if status.kind != "pod":
                continue
            if status.state == "cut" and since is None:
                since = status.at
            elif status.state in ("resumed", "relisted") and since is not None:
                found.append(Interval(since, status.at))
                since = None
        if since is not None:
            found.append(Interval(since, max(self.end, since), open=True))
        return found

    def gangs(self, expectation: Expectation) -> list[Gang]:
        """The expected gangs, empty ones included, and after them any that should not be."""
        workload = str(expectation.workload)
        mine = [pod for pod in self.pods if pod.first.facts.get("workload") == workload]
        if not expectation.workload.is_grouped:
            return [Gang(expectation.workload.name, expectation.pods, tuple(mine))]
        names = [f"{expectation.workload.name}-{index}" for index in range(expectation.groups)]
        members: dict[str, list[Pod]] = {name: [] for name in names}
        for pod in mine:
            members.setdefault(str(pod.first.facts.get("group")), []).append(pod)
        return [Gang(name, expectation.size, tuple(pods)) for name, pods in members.items()]

    def taint_removals(self) -> list[tuple[float, str]]:
        """When a worker was freed, and which."""
        return [(at, node) for at, node, freed in self._taint_changes() if freed]

    def last_change(self) -> float:
        """When something last changed that may change what the scheduler can do."""
        times = [at for at, _, _ in self._taint_changes()]
        times += [pod.first.at for pod in self.pods]
        return max(times, default=0.0)

    def _taint_changes(self) -> list[tuple[float, str, bool]]:
        found: list[tuple[float, str, bool]] = []
        for node in self.lives.get("node", ()):
            before = _taints(node.first)
            for seen in node.story[1:]:
                now = _taints(seen)
                if now != before:
                    found.append((seen.at, node.name, bool(before - now)))
                before = now
        return sorted(found)


def _taints(seen: Observation) -> frozenset[tuple[Any, ...]]:
    """Blocking taints: the others keep no pod away."""
    return frozenset(
        (taint.get("key"), taint.get("value"), taint.get("effect"))
        for taint in seen.facts.get("taints") or ()
        if taint.get("effect") in ("NoSchedule", "NoExecute")
    )


def _order(seen: Observation) -> tuple[float, int, bool, str, str]:
    """Sort by time; at one time by version, which rises with each change of one object."""
    version = int(seen.version) if seen.version.isdigit() else 0
    return (seen.at, version, seen.change == "DELETED", seen.uid, seen.version)
