"""The timeline of a receipt: what happened to each pod, PodGroup and worker of a recording."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lockstep.recording.facts import BLOCKING, FINISHED

if TYPE_CHECKING:
    from lockstep.recording.model import Mark, Observation, Recording

DRILL_REASON = "LockstepDrill"
"""Reason of the events that tell the steps of a drill."""


def build(recording: Recording) -> dict[str, Any]:
    """Reduce a recording to marks on a time axis, in seconds since its start."""
    when = _When(recording)
    return {
        "started": recording.header.started,
        "end": _seconds(recording.end),
        "pods": [_pod(story, when) for story in _stories(recording.of("pod"))],
        "podGroups": [_pod_group(story, when) for story in _stories(recording.of("podgroup"))],
        "taints": _taints(recording.of("node"), when),
        "events": _events(recording),
    }


class _When:
    """The time of an observation, and how exactly it is known.

    A state in the first list is older than the recording. A state in a list after an interruption
    of the watch began during the interruption, at the latest when it was listed.
    """

    def __init__(self, recording: Recording) -> None:
        self._cuts: dict[str, float] = {}
        for status in recording.watch_log:
            if status.state == "cut":
                self._cuts.setdefault(status.kind, status.at)

    def __call__(self, seen: Observation) -> dict[str, Any]:
        at = {"at": _seconds(seen.at)}
        if not seen.listed:
            return at
        late = self._cuts.get(seen.kind, math.inf) <= seen.at
        return {**at, "listed" if late else "before": True}


def workers(recording: Recording) -> list[dict[str, Any]]:
    """The workers of the scenario's pool, deleted ones included, with their allocatable size."""
    latest = {seen.name: seen.facts for seen in recording.of("node") if seen.change != "DELETED"}
    return [
        {"name": name, "cpu": str(facts["cpu"]), "memory": str(facts["memory"])}
        for name, facts in sorted(latest.items())
    ]


def _stories(observations: Iterable[Observation]) -> list[list[Observation]]:
    """Group observations by object: a pod recreated under the same name is another object."""
    stories: dict[str, list[Observation]] = {}
    for seen in observations:
        stories.setdefault(seen.uid, []).append(seen)
    return list(stories.values())


def _pod(story: list[Observation], when: _When) -> dict[str, Any]:
    first = story[0]
    return {
        "name": first.name,
        "uid": first.uid,
        "group": first.facts.get("group"),
        "role": first.facts.get("role"),
        "marks": list(_pod_marks(story, when)),
    }


def _pod_marks(story: list[Observation], when: _When) -> Iterator[dict[str, Any]]:
    done: set[str] = set()
    for seen in story:
        for what in _states(seen):
            if what in done:
                continue
            done.add(what)
            node = {"node": seen.facts["node"]} if what == "bound" else {}
            yield {"what": what, **when(seen), **node}


def _states(seen: Observation) -> Iterator[str]:
    """The states that a pod has reached, in the order in which it reached them."""
    phase = seen.facts.get("phase")
    yield "created"
    if seen.facts.get("node"):
        yield "bound"
    if phase == "Running":
        yield "running"
    if phase in FINISHED:
        yield "finished"
    if seen.change == "DELETED" or seen.facts.get("deleting"):
        yield "deleted"  # from its deletionTimestamp on: a terminating pod no longer counts


def _pod_group(story: list[Observation], when: _When) -> dict[str, Any]:
    """One PodGroup, with its latest minMember and minResources: LWS may correct them once."""
    phases: list[dict[str, Any]] = []
    for seen in story:
        phase = "Deleted" if seen.change == "DELETED" else seen.facts.get("phase")
        if phase and (not phases or phases[-1]["phase"] != phase):
            phases.append({"phase": phase, **when(seen)})
    last = story[-1].facts
    return {
        "name": story[0].name,
        "group": last.get("group"),
        "minMember": last.get("minMember"),
        "minResources": _text(last.get("minResources") or {}),
        "phases": phases,
    }


def _taints(observations: Iterable[Observation], when: _When) -> list[dict[str, Any]]:
    """The changes of blocking taints, by worker."""
    changes: list[dict[str, Any]] = []
    before: dict[str, set[str]] = {}
    for seen in observations:
        old = before.get(seen.name, set())
        new = _blocking(seen)
        before[seen.name] = new
        known = {"node": seen.name, **when(seen)}
        changes += [{"key": key, "change": "set", **known} for key in sorted(new - old)]
        changes += [{"key": key, "change": "removed", **known} for key in sorted(old - new)]
    return changes


def _blocking(seen: Observation) -> set[str]:
    """The keys of taints that keep pods away; PreferNoSchedule does not."""
    if seen.change == "DELETED":
        return set()
    taints = seen.facts.get("taints") or ()
    return {str(taint["key"]) for taint in taints if taint.get("effect") in BLOCKING}


def _events(recording: Recording) -> list[dict[str, Any]]:
    """The cluster's events and the steps of a drill, in order."""
    told = [*_cluster_events(recording.of("event")), *map(_step, recording.marks)]
    return sorted(told, key=lambda event: event["at"])


def _step(mark: Mark) -> dict[str, Any]:
    return {
        "at": _seconds(mark.at),
        "reason": DRILL_REASON,
        "object": mark.about,
        "message": mark.message,
        "count": 1,
    }


def _cluster_events(observations: Iterable[Observation]) -> Iterator[dict[str, Any]]:
    """Each event once per message, with the last count: repetitions would hide the others."""
    kept: dict[tuple[str, str, str], dict[str, Any]] = {}
    for seen in observations:
        if seen.change == "DELETED":  # events expire after an hour
            continue
        facts = seen.facts
        key = (str(facts.get("reason")), str(facts.get("object")), str(facts.get("message")))
        count = int(facts.get("count") or 1)
        if key in kept:
            kept[key]["count"] = max(kept[key]["count"], count)
            continue
        kept[key] = {
            "at": _seconds(seen.at),
            "reason": key[0],
            "object": key[1],
            "message": key[2],
            "count": count,
        }
    yield from kept.values()


def _text(resources: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(amount) for name, amount in resources.items()}


def _seconds(at: float) -> float:
    """Round to milliseconds, which is the precision of the watch."""
    return round(max(at, 0.0), 3)
