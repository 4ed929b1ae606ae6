"""Whether a PodGroup holds each gang together, with the right demands, and none besides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lockstep.judge.case import Case
from lockstep.judge.history import Gang, History, Life
from lockstep.judge.model import Expectation
from lockstep.kube import quantity

# Volcano's own words for a refused gang; the second number is how many pods it had before it.
_REFUSAL = re.compile(r"^\d+/(?P<tasks>\d+) tasks in gang unschedulable")

# An event client writes 25 events about one object, then one in five minutes: after so many
# refusals, silence is no sign that cycles have stopped.
_EVENT_LIMIT = 20


def of(history: History, gang: Gang) -> Life | None:
    """The PodGroup that the gang's pods name, or the newest that was made for it."""
    living = history.living("podgroup")
    named = {pod.last.facts.get("podGroup") for pod in gang.alive}
    mine = [g for g in living if g.name in named or g.last.facts.get("group") == gang.key]
    return max(mine, key=lambda group: (group.name in named, group.first.at), default=None)


def problems(case: Case, *, uncollected: bool = True) -> list[str]:
    """Everything about PodGroups that is not as expected, each as one clause.

    `uncollected` counts in those that the garbage collector is about to take.
    """
    history, expectation = case.history, case.expectation
    found: list[str] = []
    mine: set[str] = set()
    for gang in case.wanted:
        group = of(history, gang)
        if group is not None:
            mine.add(group.name)
        if not expectation.gang:
            found += [f"PodGroup {group.name} manages {gang.key}"] if group else []
        elif group is None:
            found.append(missing(history, gang))
        elif abandoned(history, group):
            found.append(inherited(group, gang))
        else:
            found += _faults(group, expectation)
    if expectation.gang:
        found += [
            f"PodGroup {group.name} is one too many"
            for group in history.living("podgroup")
            if group.name not in mine
            and _concerns(group, case)
            and (uncollected or not abandoned(history, group))
        ]
    return found


def abandoned(history: History, group: Life) -> bool:
    """Whether a PodGroup's leader has left, so that the garbage collector is about to take it.

    In a young cluster that lasts half a minute: so long it knows nothing of PodGroups.
    """
    facts = group.last.facts
    if not str(facts.get("owner") or "").startswith("Pod/"):
        return False  # Volcano's own belong to the pods' controller, which is not watched
    return facts["ownerUid"] not in history.alive


def _concerns(group: Life, case: Case) -> bool:
    """Whether a PodGroup is the workload's, by its label or because a pod names it.

    Volcano makes one for pods that name none, and leaves it when they are gone: it holds nobody.
    """
    if group.last.facts.get("workload") == str(case.expectation.workload):
        return True
    pods = (pod for gang in case.gangs for pod in gang.alive)
    return any(pod.last.facts.get("podGroup") == group.name for pod in pods)


def missing(history: History, gang: Gang) -> str:
    """Say why a gang has no PodGroup, as far as the recording tells."""
    if absent := history.recording.header.missing.get("podgroup"):
        return f"there are no PodGroups: {absent}"
    named = sorted({str(p.last.facts["podGroup"]) for p in gang.alive if p.last.facts["podGroup"]})
    came = min((pod.first.at for pod in gang.alive), default=0.0)
    stale = [
        life for life in history.lives.get("podgroup", ()) if life.gone and life.last.at > came
    ]
    if named and any(life.name == named[0] for life in stale):
        return (
            f"PodGroup {named[0]} of an earlier leader was still there when {gang.key} came, then "
            f"it went, and LWS made no other (lws#1054); {_cure(gang)}"
        )
    if named and all(pod.first.listed for pod in gang.alive):
        return (
            f"PodGroup {named[0]}, which the pods of {gang.key} name, is not there: it went with "
            f"an earlier leader (lws#1054; {_cure(gang)}), or LWS may not create PodGroups"
        )
    if named:
        return (
            f"PodGroup {named[0]}, which the pods of {gang.key} name, was not made "
            "(may LWS create PodGroups?)"
        )
    return f"no PodGroup was made for {gang.key} (is gang scheduling on in LWS?)"


def inherited(group: Life, gang: Gang) -> str:
    """Say that a gang's PodGroup is about to go, though it is in order now."""
    return (
        f"PodGroup {group.name} of {gang.key} belongs to an earlier leader and goes with it, and "
        f"LWS makes no other (lws#1054); {_cure(gang)}"
    )


def _cure(gang: Gang) -> str:
    return f"delete pod {gang.key} to have the group made anew"


def _faults(group: Life, expectation: Expectation) -> list[str]:
    """Compare a PodGroup's demands with the workload's."""
    facts = group.last.facts
    found: list[str] = []
    wanted = expectation.size if expectation.min_member is None else expectation.min_member
    if facts.get("minMember") != wanted:
        found.append(f"PodGroup {group.name} has minMember {facts.get('minMember')}, not {wanted}")
    reserved: Mapping[str, str] = facts.get("minResources") or {}
    for name, amount in sorted(expectation.requests.items()):
        total = quantity.parse(amount) * expectation.size
        if _amount(reserved.get(name)) != total:
            found.append(
                f"PodGroup {group.name} reserves {name} {reserved.get(name, 'nothing')}, "
                f"not {expectation.size} x {amount}"
            )
    return found


def _amount(text: str | None) -> Fraction | None:
    try:
        return None if text is None else quantity.parse(text)
    except quantity.QuantityError:
        return None


def refusals(history: History, group: Life, size: int, since: float) -> int:
    """Count scheduling cycles, after a time, in which Volcano refused the whole gang.

    Volcano ends every cycle by writing an event about each PodGroup that it could not place;
    repeats of a message raise the event's count. The status of the PodGroup is no help: it is
    only written when it changes.
    """
    cycles = 0
    for event in _refusal_events(history, group):
        match = _REFUSAL.match(str(event.last.facts["message"]))
        if match and int(match["tasks"]) < size:
            continue  # cycles in which some pods of the gang were not made yet
        before = 0
        for seen in event.story:
            count = int(seen.facts["count"])
            if not seen.listed and seen.at > since:
                cycles += max(0, count - before)
            before = count
    return cycles


def refusals_ran_out(history: History, group: Life) -> bool:
    """Whether so many refusals were written that the event client now holds them back."""
    total = sum(int(event.last.facts["count"]) for event in _refusal_events(history, group))
    return total >= _EVENT_LIMIT and any(
        one["type"] == "Unschedulable" and one["status"] == "True"
        for one in group.last.facts.get("conditions") or ()
    )


def last_refusal(history: History, group: Life) -> str:
    """Volcano's reason, in its words."""
    # Events of one list have one time: the version tells which was written last.
    newest = max(_refusal_events(history, group), key=_written, default=None)
    return "" if newest is None else str(newest.last.facts["message"])


def reasons(history: History, group: Life) -> list[str]:
    """Every reason that Volcano gave for keeping a gang waiting, in its words, newest last."""
    events = sorted(_refusal_events(history, group), key=lambda event: event.last.at)
    return list(dict.fromkeys(str(event.last.facts["message"]) for event in events))


def _refusal_events(history: History, group: Life) -> list[Life]:
    return [
        event
        for event in history.lives.get("event", ())
        if event.last.facts.get("reason") == "Unschedulable"
        and event.last.facts.get("objectUid") == group.first.uid
        and event.last.change != "DELETED"
    ]


def _written(event: Life) -> tuple[float, int]:
    version = event.last.version
    return event.last.at, int(version) if version.isdigit() else 0


def summary(group: Life) -> dict[str, Any]:
    """The PodGroup as a verdict shows it: its demands, and its phases with their times."""
    phases: list[dict[str, Any]] = []
    for seen in group.story:
        phase = seen.facts.get("phase")
        if phase and (not phases or phases[-1]["phase"] != phase):
            phases.append({"at": round(seen.at, 3), "phase": phase})
    facts = group.last.facts
    return {
        "name": group.name,
        "minMember": facts.get("minMember"),
        "minResources": dict(facts.get("minResources") or {}),
        "phases": phases,
    }
