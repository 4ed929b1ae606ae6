"""The timeline of a receipt: what happened to each pod, PodGroup and worker of a recording."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from lockstep.recording.facts import BLOCKING, FINISHED
from lockstep.recording.model import Observation, Recording

When = Callable[[Observation], dict[str, Any]]
DRILL_REASON = "LockstepDrill"
"""Reason of the events that tell the steps of a drill."""


def build(recording: Recording) -> dict[str, Any]:
    """Reduce a recording to marks on a time axis, in seconds since its start."""
    when = partial(_when, cuts=_first_cuts(recording))
    return {
        "started": recording.header.started,
        "end": round(max([recording.end, *(seen.at for seen in recording.observations)]), 3),
        "pods": [_pod(story, when) for story in _stories(recording.of("pod"))],
        "podGroups": [_pod_group(story, when) for story in _stories(recording.of("podgroup"))],
        "taints": _taints(recording.of("node"), when),
        "events": _events(recording),
    }


def _first_cuts(recording: Recording) -> dict[str, float]:
    """When the watch of each kind was first interrupted."""
    cuts = [status for status in recording.watch_log if status.state == "cut"]
    return {status.kind: status.at for status in reversed(cuts)}


def _when(seen: Observation, cuts: Mapping[str, float]) -> dict[str, Any]:
    """The time of an observation, and how exactly it is known.

    A state in the first list is older than the recording. A state in a list after an interruption
    of the watch began during the interruption, at the latest when it was listed.
    """
    at = {"at": round(seen.at, 3)}
    if not seen.listed:
        return at
    late = cuts.get(seen.kind, math.inf) <= seen.at
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


def _pod(story: list[Observation], when: When) -> dict[str, Any]:
    first = story[0]
    return {
        "name": first.name,
        "uid": first.uid,
        "group": first.facts.get("group"),
        "role": first.facts.get("role"),
        "marks": _pod_marks(story, when),
    }


def _pod_marks(story: list[Observation], when: When) -> list[dict[str, Any]]:
    marks: dict[str, dict[str, Any]] = {}
    for seen in story:
        for what in _states(seen):
            node = {"node": seen.facts["node"]} if what == "bound" else {}
            marks.setdefault(what, {"what": what, **when(seen), **node})
    return list(marks.values())


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


def _pod_group(story: list[Observation], when: When) -> dict[str, Any]:
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
        "minResources": last.get("minResources") or {},
        "phases": phases,
    }


def _taints(observations: Iterable[Observation], when: When) -> list[dict[str, Any]]:
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
    """The cluster's events, each message once with its last count, and the steps of a drill."""
    told: dict[tuple[str, str, str], dict[str, Any]] = {}
    for seen in recording.of("event"):
        if seen.change == "DELETED":  # events expire after an hour
            continue
        key = (seen.facts["reason"], seen.facts["object"], seen.facts["message"])
        line = told.setdefault(key, _event(seen.at, *key))
        line["count"] = max(line["count"], seen.facts["count"])
    steps = [_event(mark.at, DRILL_REASON, mark.about, mark.message) for mark in recording.marks]
    return sorted([*told.values(), *steps], key=lambda event: event["at"])


def _event(at: float, reason: str, about: str, message: str) -> dict[str, Any]:
    return {
        "at": round(at, 3),
        "reason": reason,
        "object": about,
        "message": message,
        "count": 1,
    }
